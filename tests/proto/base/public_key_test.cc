#include "proto/base/public_key.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "proto/base/signature.h"
#include "proto/base/signing_key.h"
#include "proto/content/authority.h"
#include "proto/content/link.h"
#include "proto/content/publisher.h"
#include "tests/proto/hex.h"

namespace firn {
namespace {

// All encodings of the points of small order, both signs.
std::vector<std::string> small_keys() {
  std::vector<std::string> keys;
  for (const char* y : {"0000000000000000000000000000000000000000000000000000000000000000",
                        "0100000000000000000000000000000000000000000000000000000000000000",
                        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
                        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
                        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"}) {
    for (const int sign : {0, 0x80}) {
      keys.push_back(test::from_hex(y));
      keys.back().back() = static_cast<char>(keys.back().back() | sign);
    }
  }
  return keys;
}

// R is the identity and S is 0: true of every message for the identity as a key, and of one in so
// many for the others.
std::string signature_of_nobody() {
  std::string signature(kSignatureBytes, '\0');
  signature[0] = 1;
  return signature;
}

TEST_CASE("a key of small order is none, however it is written") {
  for (const std::string& key : small_keys()) {
    CHECK_FALSE(is_public_key(key));
    CHECK_FALSE(public_key_from_text(PublicKey::from_bytes(key)->text()));
  }
  CHECK_FALSE(is_public_key(std::string(31, 'k')));
  for (int i = 0; i < 10; ++i) {
    const PublicKey key = SigningKey::generate().public_key();
    CHECK(is_public_key(key.raw()));
    CHECK(public_key_from_text(key.text()) == key);
  }
}

TEST_CASE("nothing that a key of small order signed counts") {
  for (const std::string& key : small_keys()) {
    for (int message = 0; message < 32; ++message)
      CHECK_FALSE(signed_by(key, std::to_string(message), signature_of_nobody()));
    CHECK_FALSE(check_publisher({key, signature_of_nobody()}, "info").ok());
    CHECK_FALSE(certified(key, {}, {}, signature_of_nobody()));
  }
}

TEST_CASE("a link does not name a publisher without a secret") {
  const std::string id = ContentId{}.text();
  const std::string real = SigningKey::generate().public_key().text();
  CHECK(parse_link("firn:" + id + "?pub=" + real).ok());
  for (const std::string& key : small_keys())
    CHECK_FALSE(parse_link("firn:" + id + "?pub=" + PublicKey::from_bytes(key)->text()).ok());
}

}  // namespace
}  // namespace firn
