#include "client/privacy/manifest_seal.h"

#include <doctest/doctest.h>

#include <string>

#include "proto/base/limits.h"
#include "proto/content/sealed_manifest.h"
#include "sample_keys.h"
#include "tests/proto/sample_manifest.h"

namespace firn::privacy {
namespace {

using test::sample_content;
using test::sample_keys;

constexpr std::size_t kSmall = 64 << 10;

TEST_CASE("a sealed manifest opens for its content alone, and shows nothing of it") {
  const PrivateKeys keys = sample_keys();
  const std::string file = "FIRNMAN1 with a name that nobody should see";
  const auto sealed = seal_manifest(keys, file);
  REQUIRE(sealed.ok());
  CHECK(check_sealed_manifest(*sealed, keys.rendezvous()).ok());
  CHECK(*open_manifest(keys, *sealed) == file);
  CHECK(sealed->find("nobody") == std::string::npos);
  CHECK(sealed->find(sample_content().raw()) == std::string::npos);
  CHECK(sealed->find(keys.rendezvous().raw()) == std::string::npos);
  CHECK(*seal_manifest(keys, file) != *sealed);  // a nonce each

  const PrivateKeys other(ContentSecret::generate(), sample_content());
  CHECK(open_manifest(other, *sealed).error().code == ErrorCode::kCorrupt);
  CHECK(check_sealed_manifest(*sealed, other.rendezvous()).error().code == ErrorCode::kCorrupt);
}

TEST_CASE("the origins of a private content are sealed with its manifest") {
  const std::string url = "https://members.example/sample/";
  Info info = firn::test::sample_info();
  info.is_private = true;
  const std::string secret(32, 's');
  const auto named = with_origins(make_manifest(info, {}).value(), {url});
  const Manifest manifest = sign_manifest(*named, firn::test::bytes_of(secret)).value();
  const PrivateKeys keys(test::sample_secret(), manifest.id);
  const auto sealed = seal_manifest(keys, manifest.file_bytes);
  REQUIRE(sealed.ok());
  CHECK(manifest.file_bytes.find("members.example") != std::string::npos);
  CHECK(sealed->find("members.example") == std::string::npos);
  const auto opened = parse_manifest(*open_manifest(keys, *sealed), manifest.id);
  REQUIRE(opened.ok());
  CHECK(opened->origins == std::vector{url});
  CHECK(opened->origins_signed);
}

TEST_CASE("what a tracker changes in a sealed manifest is noticed") {
  const PrivateKeys keys = sample_keys();
  const std::string sealed = *seal_manifest(keys, "manifest");
  for (const std::size_t at : {std::size_t{0}, std::size_t{8}, kSealHeadBytes, sealed.size() / 2,
                               sealed.size() - 70, sealed.size() - 1}) {
    CAPTURE(at);
    std::string changed = sealed;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CHECK_FALSE(open_manifest(keys, changed).ok());
    CHECK_FALSE(check_sealed_manifest(changed, keys.rendezvous()).ok());
  }
  CHECK_FALSE(open_manifest(keys, sealed.substr(0, sealed.size() / 2)).ok());
  CHECK_FALSE(open_manifest(keys, sealed + sealed).ok());
  CHECK_FALSE(open_manifest(keys, "").ok());
  CHECK_FALSE(open_manifest(keys, "FIRNMAN1").ok());
}

TEST_CASE("a member that seals nonsense is found out") {
  const PrivateKeys keys = sample_keys();
  std::string forged = *seal_manifest(keys, "manifest");
  forged.resize(forged.size() - kSignatureBytes);
  forged[kSealHeadBytes] = static_cast<char>(forged[kSealHeadBytes] ^ 1);
  forged += keys.sign(sealed_message(forged));
  CHECK(check_sealed_manifest(forged, keys.rendezvous()).ok());
  CHECK(open_manifest(keys, forged).error().code == ErrorCode::kCorrupt);
}

TEST_CASE("the size of a sealed manifest tells little of the manifest's") {
  const PrivateKeys keys = sample_keys();
  CHECK(seal_manifest(keys, "")->size() == kSmall);
  CHECK(seal_manifest(keys, std::string(kSmall - kSealBytes, 'm'))->size() == kSmall);
  const std::string larger(kSmall - kSealBytes + 1, 'm');
  const auto sealed = seal_manifest(keys, larger);
  CHECK(sealed->size() == 2 * kSmall);
  CHECK(*open_manifest(keys, *sealed) == larger);
  CHECK(*sealed_bytes(limits::kManifestBytesMax - kSealBytes) == limits::kManifestBytesMax);
  CHECK(sealed_bytes(limits::kManifestBytesMax - kSealBytes + 1).error().code ==
        ErrorCode::kBadInput);
}

}  // namespace
}  // namespace firn::privacy
