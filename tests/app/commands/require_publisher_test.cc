// What a manifest that a command has at its start must be signed by.
#include <doctest/doctest.h>

#include <array>

#include "client/app/commands/options/publishing_options.h"
#include "proto/content/publisher.h"

namespace firn::app {
namespace {

Manifest signed_by(std::uint8_t publisher) {
  Info info;
  info.name = "file";
  info.single_file = true;
  info.shape = {1, 1, 1};
  info.files = {{.path = "", .bytes = 1}};
  info.generation_digests.resize(1);
  std::array<std::uint8_t, 32> secret{};
  secret.fill(publisher);
  return sign_manifest(make_manifest(info, {}).value(), secret).value();
}

ContentSource source_with(const Manifest& manifest, const Manifest& wanted, bool kept) {
  ContentSource source;
  source.content_id = manifest.id;
  source.manifest = manifest;
  source.manifest_kept = kept;
  source.publisher = PublicKey::from_bytes(wanted.publisher->key);
  return source;
}

TEST_CASE("a manifest of another publisher is an error if it was named, and left out if kept") {
  for (const bool kept : {false, true}) {
    CAPTURE(kept);
    ContentSource source = source_with(signed_by(1), signed_by(2), kept);
    const Status right = require_publisher(source, {});
    CHECK(right.ok() == kept);
    CHECK(source.manifest.has_value() != kept);
  }
}

TEST_CASE("a link and an option that name two publishers are an error like another signature") {
  ContentSource source = source_with(signed_by(1), signed_by(1), false);
  const Status right =
      require_publisher(source, PublicKey::from_bytes(signed_by(2).publisher->key)->text());
  REQUIRE_FALSE(right.ok());
  CHECK(right.error().code == ErrorCode::kWrongIdentity);
}

TEST_CASE("a kept manifest of the right publisher is taken") {
  ContentSource source = source_with(signed_by(1), signed_by(1), true);
  CHECK(require_publisher(source, {}).ok());
  CHECK(source.manifest.has_value());
}

}  // namespace
}  // namespace firn::app
