// Claims about blocks, compared with the source blocks of verified generations.
#include <doctest/doctest.h>

#include "proto/base/signing_key.h"
#include "proto/block_claim.h"
#include "tests/app/coding/data_plane_fixture.h"

using namespace firn;
using firn::tests::DataPlaneFixture;

namespace {

// Somebody claims this payload for the vector, or for the source block.
proto::FalseClaim claimed(const DataPlaneFixture& fixture, proto::Block block,
                          const std::vector<std::uint8_t>& payload) {
  const SigningKey key = SigningKey::generate();
  block.payload = proto::Payload::copy_of(payload);
  return {block.generation, block.source_index, block.coefficients,
          make_claim(block, {fixture.manifest.id, key.public_key(), key.secret()})};
}

bool found_false(DataPlaneFixture& fixture, const proto::FalseClaim& claim) {
  fixture.plane->check_claim({claim});
  fixture.settle();
  return fixture.outcomes.claims.at(claimant_of(claim.claim));
}

}  // namespace

TEST_CASE("a claim is false if the source blocks make another payload than it says") {
  DataPlaneFixture source;
  source.serve();
  for (std::uint32_t g = 0; g < DataPlaneFixture::kGenerations; ++g) {
    CAPTURE(g);
    proto::Block coded;
    coded.generation = g;
    coded.coefficients = codec::random_vector(source.blocks_in(g), source.random);
    std::vector<std::uint8_t> payload = source.combination(g, coded.coefficients);
    CHECK_FALSE(found_false(source, claimed(source, coded, payload)));
    payload.back() ^= 1;
    CHECK(found_false(source, claimed(source, coded, payload)));

    proto::Block plain;
    plain.generation = g;
    plain.source_index = source.blocks_in(g) - 1;
    payload = source.combination(g, codec::unit_vector(source.blocks_in(g), *plain.source_index));
    CHECK_FALSE(found_false(source, claimed(source, plain, payload)));
    plain.source_index = 0;
    CHECK(found_false(source, claimed(source, plain, payload)));
  }
}

TEST_CASE("a claim about a generation that cannot be read, or has changed, is not called false") {
  DataPlaneFixture source;
  source.serve();
  proto::Block block;
  block.source_index = 1;
  const proto::FalseClaim claim =
      claimed(source, block, std::vector<std::uint8_t>(DataPlaneFixture::kK));
  source.store->read_failures = 1;
  CHECK_FALSE(found_false(source, claim));
  CHECK(found_false(source, claim));
  DataPlaneFixture changed;
  changed.serve();
  std::fstream(changed.folder.path() + "/file", std::ios::binary | std::ios::in | std::ios::out)
      << "X";
  CHECK_FALSE(found_false(changed, claim));
}
