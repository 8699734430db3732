#include "proto/web/token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>

#include "proto/base/ids.h"
#include "proto/program/input_file.h"
#include "proto/program/output_file.h"

namespace firn::web {
namespace {

constexpr std::size_t kTokenMin = 20;
constexpr std::size_t kTokenMax = 200;

bool is_token(std::string_view text) {
  return text.size() >= kTokenMin && text.size() <= kTokenMax &&
         std::ranges::all_of(text, [](unsigned char c) {
           return std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
         });
}

const FileKind kTokenFile{"token file", [](std::string_view) { return false; }};

// Whether its owner alone may read the file. Errors: as errno says.
Result<bool> is_private(const std::string& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0) return error_from_errno("read " + path, errno);
  return (there.st_mode & 077) == 0;
}

}  // namespace

std::string fresh_token() {
  std::array<std::uint8_t, kIdBytes> bytes{};
  FIRN_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return base32_encode(bytes);
}

Result<std::string> load_or_make_token(const std::string& path) {
  const std::string made = fresh_token();
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0 && errno == ENOENT) {
    const auto written = OutputFile(path, kTokenFile).write_new_private(made + "\n");
    if (!written.ok()) return written.error();
    if (*written) return made;
  }
  const auto owned = is_private(path);
  if (!owned.ok()) return owned.error();
  if (!*owned)
    return Error{ErrorCode::kBadInput, "read the token in " + path,
                 "other users may read the file; chmod 600 it"};
  auto text = read_input_file(path, 4096);
  if (!text.ok()) return text.error();
  text->resize(std::min(text->find_first_of("\r\n"), text->size()));
  if (!is_token(*text))
    return Error{ErrorCode::kBadInput, "read the token in " + path,
                 "its first line must be 20 to 200 letters, digits, '-', '.', '_' or '~'"};
  return text;
}

std::string derived_secret(std::string_view secret, std::string_view purpose) {
  std::array<std::uint8_t, kIdBytes> digest{};
  unsigned size = 0;
  FIRN_CHECK(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                  reinterpret_cast<const std::uint8_t*>(purpose.data()), purpose.size(),
                  digest.data(), &size) != nullptr &&
             size == digest.size());
  return base32_encode(digest);
}

// Of what one cannot choose, so that neither length nor beginning shows.
bool same_secret(std::string_view a, std::string_view b) {
  static const std::string key = fresh_token();
  const std::string left = derived_secret(key, a), right = derived_secret(key, b);
  return CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace firn::web
