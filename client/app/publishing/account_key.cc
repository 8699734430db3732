#include "client/app/publishing/account_key.h"

#include <array>
#include <filesystem>

#include "client/checks/hkdf.h"
#include "codec/secret_memory.h"
#include "proto/program/key_file.h"
#include "proto/program/user_folders.h"

namespace firn::app {

std::string account_key_path() {
  const std::string state = user_state_folder();
  return state.empty() ? "" : state + "/firn/account.pem";
}

Result<SigningKey> load_account_key(const std::string& path) {
  if (path.empty())
    return Error{ErrorCode::kNotFound, "find this account's key", "HOME is not set"};
  return read_key_file(path);
}

Result<SigningKey> load_or_make_account_key(const std::string& path) {
  auto kept = load_account_key(path);
  if (kept.ok() || kept.error().code != ErrorCode::kNotFound || path.empty()) return kept;
  if (const Status made = make_private_folder(std::filesystem::path(path).parent_path());
      !made.ok())
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
