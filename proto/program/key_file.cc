#include "proto/program/key_file.h"

#include "proto/program/input_file.h"
#include "proto/program/output_file.h"

namespace firn {
namespace {

constexpr std::size_t kKeyFileBytesMax = 64 << 10;

}  // namespace

Result<SigningKey> read_key_file(const std::string& path) {
  auto pem = read_input_file(path, kKeyFileBytesMax);
  if (!pem.ok() && pem.error().code != ErrorCode::kBadInput) return pem.error();
  const auto key = pem.ok() ? SigningKey::from_pem(*pem) : std::nullopt;
  if (pem.ok()) wipe_text(*pem);
  if (key) return *key;
  return Error{ErrorCode::kBadInput, "read the key " + path,
               "it holds no unencrypted Ed25519 private key in PEM form; firn keygen makes one"};
}

Result<bool> write_new_key_file(const std::string& path, const SigningKey& key) {
  std::string pem = key.to_pem();
  const auto written = OutputFile(path, kKeyFile).write_new_private(pem);
  wipe_text(pem);
  return written;
}

}  // namespace firn
