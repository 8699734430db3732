// Leaves of verified generations, as they are made for neighbours.
#include <doctest/doctest.h>

#include "proto/base/digest.h"
#include "tests/app/coding/data_plane_fixture.h"

using namespace firn;
using firn::tests::DataPlaneFixture;

namespace {

std::vector<Digest> leaves_of(DataPlaneFixture& fixture, std::uint32_t g) {
  fixture.plane->make_leaves({1, g});
  fixture.settle();
  return fixture.outcomes.leaves.at(g);
}

}  // namespace

TEST_CASE("leaves are those of the source blocks, padding and all, and make the digest") {
  DataPlaneFixture source;
  source.serve();
  for (std::uint32_t g = 0; g < DataPlaneFixture::kGenerations; ++g) {
    CAPTURE(g);
    const auto leaves = leaves_of(source, g);
    REQUIRE(leaves.size() == source.blocks_in(g));
    CHECK(merkle_root(leaves) == source.manifest.info.generation_digests[g]);
    std::vector<std::uint8_t> unit(source.blocks_in(g));
    unit.back() = 1;
    CHECK(leaves.back() == merkle_leaf(source.combination(g, unit)));
  }
}

TEST_CASE("of a generation that cannot be read there are no leaves") {
  DataPlaneFixture source;
  source.serve();
  source.store->read_failures = 1;
  CHECK(leaves_of(source, 0).empty());
  CHECK(leaves_of(source, 0).size() == source.blocks_in(0));
}

TEST_CASE("of a generation that has changed on the disk there are no leaves") {
  DataPlaneFixture source;
  source.serve();
  std::fstream(source.folder.path() + "/file", std::ios::binary | std::ios::in | std::ios::out)
      << "X";
  CHECK(leaves_of(source, 0).empty());
}
