#include <doctest/doctest.h>

#include "codec/encode.h"
#include "tests/app/coding/data_plane_bench.h"

namespace firn::app {
namespace {

using tests::DataPlaneBench;
using tests::Outcomes;

constexpr std::uint32_t kN = DataPlaneBench::kN;

std::vector<std::uint8_t> bytes_of(const proto::Payload& payload) {
  return {payload.bytes().begin(), payload.bytes().end()};
}

TEST_CASE("recoded blocks are the combination asked for, from memory and from the spool") {
  for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{DataPlaneBench::kK}}) {
    CAPTURE(memory);
    DataPlaneBench bench(memory);
    std::vector<core::StoreRow> rows;
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
      rows.push_back(bench.row(1, slot, 1));
      bench.plane->store_row(rows.back(), bench.now);
    }
    bench.settle();
    bench.pass(kSpoolDelayFew);
    for (std::uint64_t ticket = 1; ticket <= 100; ++ticket) {
      core::SendBlock send;
      send.block.generation = 1;
      const std::uint32_t used = 1 + static_cast<std::uint32_t>(ticket % 4);
      send.mix = codec::random_mix(used, bench.random);
      for (std::uint32_t slot = 0; slot < used; ++slot) send.slots.push_back(slot);
      send.block.coefficients.assign(kN, 0);
      std::vector<const std::uint8_t*> vectors;
      for (std::uint32_t slot = 0; slot < used; ++slot)
        vectors.push_back(rows[slot].vector->data());
      codec::mix_vectors(codec::kernels(), send.mix, vectors, send.block.coefficients);
      const auto expected = bench.combination(1, send.block.coefficients);
      bench.plane->send_block(ticket, std::move(send), bench.now);
      if (ticket % 10 == 0) bench.settle();
      if (ticket % 10 == 0) CHECK(bytes_of(bench.outcomes.made.at(ticket)) == expected);
    }
    bench.settle();
    CHECK(bench.outcomes.made.size() == 100);
  }
}

TEST_CASE("few small blocks are made at once, many by the workers, and all are right") {
  DataPlaneBench bench;
  const auto rows = bench.fill(1);
  const auto ask = [&](std::uint64_t ticket) {
    core::SendBlock send;
    send.block.generation = 1;
    send.mix = codec::random_mix(kN, bench.random);
    std::vector<const std::uint8_t*> vectors;
    for (std::uint32_t slot = 0; slot < kN; ++slot) {
      send.slots.push_back(slot);
      vectors.push_back(rows.vectors[slot]->data());
    }
    send.block.coefficients.assign(kN, 0);
    codec::mix_vectors(codec::kernels(), send.mix, vectors, send.block.coefficients);
    const auto expected = bench.combination(1, send.block.coefficients);
    bench.plane->send_block(ticket, std::move(send), bench.now);
    bench.plane->flush();
    return expected;
  };
  bench.now += core::kSecond;
  const std::uint64_t at_once = LoopBudget::kSavedMax / (kN * DataPlaneBench::kK);
  for (std::uint64_t ticket = 1; ticket <= at_once; ++ticket) {
    const auto expected = ask(ticket);
    REQUIRE(bench.outcomes.made.contains(ticket));
    if (ticket % 100 == 0) CHECK(bytes_of(bench.outcomes.made.at(ticket)) == expected);
  }
  const auto expected = ask(at_once + 1);
  CHECK_FALSE(bench.outcomes.made.contains(at_once + 1));
  bench.settle();
  CHECK(bytes_of(bench.outcomes.made.at(at_once + 1)) == expected);
}

TEST_CASE("a recoded block whose row is gone is not made") {
  DataPlaneBench bench;
  core::SendBlock send;
  send.block.generation = 1;
  send.slots = {0};
  send.mix = {2};
  bench.plane->send_block(1, send, bench.now);
  bench.settle();
  REQUIRE(bench.outcomes.made.contains(1));
  CHECK_FALSE(bench.outcomes.made.at(1));
}

}  // namespace
}  // namespace firn::app
