#include "proto/content/publisher.h"

#include <doctest/doctest.h>

#include <string>

#include "proto/base/signing_key.h"
#include "proto/content/authority.h"
#include "tests/proto/sample_manifest.h"

using namespace firn;
using namespace firn::test;

namespace {

Manifest made_by(const SigningKey* signer, const SigningKey* authority) {
  Info info = sample_info();
  if (authority != nullptr) info.authority_key = authority->public_key().raw();
  const auto made = make_manifest(info, {});
  REQUIRE(made.ok());
  if (signer == nullptr) return *made;
  const auto with_signature = sign_manifest(*made, signer->secret());
  REQUIRE(with_signature.ok());
  return *with_signature;
}

bool names(const Error& error, const SigningKey& key) {
  return error.detail.find(key.public_key().text()) != std::string::npos;
}

}  // namespace

TEST_CASE("a content is published by the key that signed it, whatever authority it names") {
  const SigningKey one = SigningKey::generate(), other = SigningKey::generate();
  CHECK(check_published_by(made_by(&one, nullptr), one.public_key()).ok());
  CHECK_FALSE(check_published_by(made_by(nullptr, &one), one.public_key()).ok());
  CHECK_FALSE(check_published_by(made_by(&other, &one), one.public_key()).ok());
  CHECK(check_published_by(made_by(&one, &other), one.public_key()).ok());

  const SigningKey wanted = SigningKey::generate();
  const Status refused = check_published_by(made_by(&one, &other), wanted.public_key());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kWrongIdentity);
  for (const SigningKey* key : {&one, &wanted}) CHECK(names(refused.error(), *key));

  const Status nobody = check_published_by(made_by(nullptr, nullptr), wanted.public_key());
  REQUIRE_FALSE(nobody.ok());
  CHECK(nobody.error().detail.find("not signed") != std::string::npos);
}

TEST_CASE("the id without an authority is that of the content that has none") {
  const SigningKey key = SigningKey::generate();
  const Manifest without = made_by(nullptr, nullptr), with = made_by(nullptr, &key);
  CHECK(with.id != without.id);
  CHECK(id_without_authority(with.info) == without.id);
  CHECK(id_without_authority(without.info) == without.id);
}
