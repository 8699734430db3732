#include "proto/base/signing_key.h"

#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <string>

using namespace firn;

namespace {

// The secret bytes 0, 1, ... 31, as another implementation writes them (RFC 8410).
const std::string kPem =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n"
    "-----END PRIVATE KEY-----\n";

}  // namespace

TEST_CASE("a key is written and read as PEM") {
  std::array<std::uint8_t, 32> secret;
  std::iota(secret.begin(), secret.end(), std::uint8_t{0});
  const SigningKey key{SigningKey::Secret(secret)};
  CHECK(key.to_pem() == kPem);
  const auto read = SigningKey::from_pem(kPem);
  REQUIRE(read);
  CHECK(std::equal(secret.begin(), secret.end(), read->secret().begin()));
  CHECK(read->public_key() == key.public_key());
  CHECK(read->public_key().raw() == *public_key_of(secret));
}

TEST_CASE("what is no unencrypted Ed25519 key is none") {
  const std::string x25519 =
      "-----BEGIN PRIVATE KEY-----\n"
      "MC4CAQAwBQYDK2VuBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n"
      "-----END PRIVATE KEY-----\n";
  for (const std::string& text :
       {std::string(), std::string("hello"), kPem.substr(0, 60), x25519, kPem.substr(28)}) {
    CAPTURE(text);
    CHECK_FALSE(SigningKey::from_pem(text));
  }
}

TEST_CASE("fresh keys differ, and a text that held one is wiped") {
  const SigningKey one = SigningKey::generate(), other = SigningKey::generate();
  CHECK(one.public_key() != other.public_key());
  std::string pem = one.to_pem();
  const char* const bytes = pem.data();
  wipe_text(pem);
  CHECK(pem.empty());
  CHECK(bytes[1] == '\0');  // of memory that `pem` still owns
}
