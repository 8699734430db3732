// What a tracker hosts under a rendezvous id. First byte 0: any bytes as they stand; 1: the rest
// filled up to a right size and signed, as a member that sends nonsense would; 2: sealed and
// opened.
#include <array>
#include <string>

#include "client/privacy/manifest_seal.h"
#include "proto/content/sealed_manifest.h"
#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz::sealed_manifest {
namespace {

const privacy::PrivateKeys& keys() {
  static const privacy::PrivateKeys kept(
      ContentSecret{ContentSecret::View(std::array<std::uint8_t, ContentSecret::kBytes>{})}, {});
  return kept;
}

void open(const std::string& bytes, bool right) {
  const Status checked = check_sealed_manifest(bytes, keys().rendezvous());
  FIRN_CHECK(checked.ok() == right);
  const auto opened = privacy::open_manifest(keys(), bytes);
  FIRN_CHECK(!opened.ok());  // its tag was not made with the key
  FIRN_CHECK(opened.error().code == ErrorCode::kBadInput ||
             opened.error().code == ErrorCode::kCorrupt);
}

}  // namespace

FIRN_FUZZ_TARGET(sealed_manifest) {
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 0) {
    open(text, false);
  } else if (data[0] == 1) {
    const bool begins = is_sealed_manifest(text);
    text.resize(*sealed_bytes(text.size()) - kSignatureBytes);
    text += keys().sign(sealed_message(text));
    open(text, begins);
  } else {
    const auto sealed = privacy::seal_manifest(keys(), text);
    FIRN_CHECK(sealed.ok() && *privacy::open_manifest(keys(), *sealed) == text);
  }
  return 0;
}

}  // namespace firn::fuzz::sealed_manifest
