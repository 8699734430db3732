#include <doctest/doctest.h>

#include "codec/encode.h"
#include "tests/app/coding/data_plane_fixture.h"

namespace firn::app {
namespace {

using tests::bytes_of;
using tests::DataPlaneFixture;
using tests::kN;
using tests::Outcomes;

TEST_CASE("recoded blocks are the combination asked for, from memory and from the spool") {
  for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{DataPlaneFixture::kK}}) {
    CAPTURE(memory);
    DataPlaneFixture fixture(memory);
    std::vector<core::StoreRow> rows;
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
      rows.push_back(fixture.row(1, slot, 1));
      fixture.plane->store_row(rows.back(), fixture.now);
    }
    fixture.settle();
    fixture.pass(kSpoolDelayFew);
    for (std::uint64_t ticket = 1; ticket <= 100; ++ticket) {
      core::SendBlock send;
      send.block.generation = 1;
      const std::uint32_t used = 1 + static_cast<std::uint32_t>(ticket % 4);
      send.mix = codec::random_mix(used, fixture.random);
      for (std::uint32_t slot = 0; slot < used; ++slot) send.slots.push_back(slot);
      send.block.coefficients.assign(kN, 0);
      std::vector<const std::uint8_t*> vectors;
      for (std::uint32_t slot = 0; slot < used; ++slot)
        vectors.push_back(rows[slot].vector->data());
      codec::mix_vectors(codec::kernels(), send.mix, vectors, send.block.coefficients);
      const auto expected = fixture.combination(1, send.block.coefficients);
      fixture.plane->send_block(ticket, std::move(send), fixture.now);
      if (ticket % 10 == 0) fixture.settle();
      if (ticket % 10 == 0) CHECK(bytes_of(fixture.outcomes.made.at(ticket)) == expected);
    }
    fixture.settle();
    CHECK(fixture.outcomes.made.size() == 100);
  }
}

TEST_CASE("few small blocks are made at once, many by the workers, and all are right") {
  DataPlaneFixture fixture;
  const auto rows = fixture.fill(1);
  const auto ask = [&](std::uint64_t ticket) {
    core::SendBlock send;
    send.block.generation = 1;
    send.mix = codec::random_mix(kN, fixture.random);
    std::vector<const std::uint8_t*> vectors;
    for (std::uint32_t slot = 0; slot < kN; ++slot) {
      send.slots.push_back(slot);
      vectors.push_back(rows[slot]->data());
    }
    send.block.coefficients.assign(kN, 0);
    codec::mix_vectors(codec::kernels(), send.mix, vectors, send.block.coefficients);
    const auto expected = fixture.combination(1, send.block.coefficients);
    fixture.plane->send_block(ticket, std::move(send), fixture.now);
    fixture.plane->flush();
    return expected;
  };
  fixture.now += core::kSecond;
  const std::uint64_t at_once = LoopBudget::kSavedMax / (kN * DataPlaneFixture::kK);
  for (std::uint64_t ticket = 1; ticket <= at_once; ++ticket) {
    const auto expected = ask(ticket);
    REQUIRE(fixture.outcomes.made.contains(ticket));
    if (ticket % 100 == 0) CHECK(bytes_of(fixture.outcomes.made.at(ticket)) == expected);
  }
  const auto expected = ask(at_once + 1);
  CHECK_FALSE(fixture.outcomes.made.contains(at_once + 1));
  fixture.settle();
  CHECK(bytes_of(fixture.outcomes.made.at(at_once + 1)) == expected);
}

TEST_CASE("a recoded block whose row is gone is not made") {
  DataPlaneFixture fixture;
  core::SendBlock send;
  send.block.generation = 1;
  send.slots = {0};
  send.mix = {2};
  fixture.plane->send_block(1, send, fixture.now);
  fixture.settle();
  REQUIRE(fixture.outcomes.made.contains(1));
  CHECK_FALSE(fixture.outcomes.made.at(1));
}

}  // namespace
}  // namespace firn::app
