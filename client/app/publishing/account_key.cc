#include "client/app/publishing/account_key.h"

#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "client/checks/hkdf.h"
#include "codec/secret_memory.h"
#include "proto/program/key_file.h"

namespace firn::app {
namespace {

namespace fs = std::filesystem;

// A folder for its owner alone, in one that is made as folders are.
Status make_private_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return Done{};
  return error_from_errno("make the folder " + folder.string(), errno);
}

}  // namespace

std::string account_key_path() {
  constexpr const char* kFile = "/firn/account.pem";
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + kFile;
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.local/state" + kFile;
  return {};
}

Result<SigningKey> load_account_key(const std::string& path) {
  if (path.empty())
    return Error{ErrorCode::kNotFound, "find this account's key", "HOME is not set"};
  return read_key_file(path);
}

Result<SigningKey> load_or_make_account_key(const std::string& path) {
  auto kept = load_account_key(path);
  if (kept.ok() || kept.error().code != ErrorCode::kNotFound || path.empty()) return kept;
  if (const Status made = make_private_folder(fs::path(path).parent_path()); !made.ok())
    return made.error();
  const SigningKey fresh = SigningKey::generate();
  const auto written = write_new_key_file(path, fresh);
  if (!written.ok()) return written.error();
  if (*written) return fresh;
  return load_account_key(path);  // another process was first: that key it is
}

SigningKey content_key(const SigningKey& account, const ContentId& id_without_authority) {
  std::array<std::uint8_t, kSigningKeyBytes> secret{};
  checks::hkdf_sha256(account.secret(), id_without_authority, "firn authority v1", secret);
  const SigningKey key{SigningKey::Secret(secret)};
  codec::wipe(secret.data(), secret.size());
  return key;
}

ContentSecret content_secret(const SigningKey& account, const ContentId& content) {
  std::array<std::uint8_t, ContentSecret::kBytes> derived{};
  checks::hkdf_sha256(account.secret(), content, "firn private v1 secret", derived);
  const ContentSecret secret{ContentSecret::View(derived)};
  codec::wipe(derived.data(), derived.size());
  return secret;
}

}  // namespace firn::app
