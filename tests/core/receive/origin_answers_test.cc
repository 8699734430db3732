// What a core makes of answers of an origin that rows, the user or the end have overtaken.
#include "client/core/parts.h"
#include "tests/core/receive/origin_bench.h"

using namespace firn;
using namespace firn::test;

TEST_CASE("a generation that comes once it is not wanted any more is kept") {
  OriginBench bench(2);
  bench.start();
  bench.open_origin();
  const GenerationNumbers asked = bench.asked();
  REQUIRE(asked.size() == 1);
  const std::uint32_t g = *asked.begin();
  bench.core.want({g != 0, g != 1}, bench.now);
  bench.drain();
  SUBCASE("it comes") {
    bench.answer(g);
    CHECK(bench.core.report().generations_verified == 1);
    CHECK(bench.core.report().bytes_from_origins == OriginBench::kBytes);
  }
  SUBCASE("it does not") {
    bench.answer(g, false);
    CHECK(bench.core.report().generations_verified == 0);
  }
  CHECK(bench.serve(kMillisecond, 5 * kSecond) == GenerationNumbers{1 - g});
  CHECK(bench.take<core::ContentComplete>().size() == 1);
}

namespace {

// Generation 0 is asked for; meanwhile all its rows come from a neighbour.
void rows_overtake(OriginBench& bench) {
  bench.start();
  bench.core.want({true, false}, bench.now);
  bench.drain();
  bench.open_origin();
  REQUIRE(bench.asked() == GenerationNumbers{0});
  bench.join(1, peer_id(1), 0, true);
  bench.give_rows(1, 0, 0, OriginBench::kRows);
  REQUIRE(bench.take<core::Decode>().size() == 1);
}

}  // namespace

TEST_CASE("a generation that comes after its rows were decoded counts as come from peers") {
  OriginBench bench(2);
  rows_overtake(bench);
  bench.core.generation_decoded(0, core::DecodeOutcome::kVerified, bench.now);
  bench.drain();
  bench.answer(0);
  bench.pass(kSecond);
  CHECK(bench.take<core::DropRows>().size() == 1);
  CHECK(bench.core.report().bytes_from_origins == 0);
  CHECK(bench.core.report().generations_verified == 1);
  CHECK(bench.take<core::ContentComplete>().size() == 1);
}

TEST_CASE("a generation that comes while its rows are decoded is right whatever they were") {
  OriginBench bench(2);
  rows_overtake(bench);
  bench.answer(0);
  for (const core::DecodeOutcome outcome :
       {core::DecodeOutcome::kCorrupt, core::DecodeOutcome::kFailed,
        core::DecodeOutcome::kVerified}) {
    bench.core.generation_decoded(0, outcome, bench.now);
    bench.pass(kSecond);
  }
  CHECK(bench.take<core::DropRows>().size() == 1);
  CHECK(bench.core.report().generations_verified == 1);
  CHECK(bench.core.report().bytes_from_origins == OriginBench::kBytes);
  CHECK_FALSE(bench.noticed("false"));
  CHECK_FALSE(bench.closed(1));
}

TEST_CASE("what is decoded is not asked of the origin, until it could not be") {
  OriginBench bench(1);
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  bench.give_rows(1, 0, 0, OriginBench::kRows);
  REQUIRE(bench.take<core::Decode>().size() == 1);
  bench.core.peer_closed(1, bench.now);
  bench.open_origin();
  CHECK(bench.asked_within(2 * facts::stands_after(facts::kUsualAtFirst)).empty());
  bench.core.generation_decoded(0, core::DecodeOutcome::kFailed, bench.now);
  CHECK(bench.asked_within(kSecond) == GenerationNumbers{0});
}

TEST_CASE("answers after the stop change nothing") {
  for (const bool comes : {true, false}) {
    OriginBench bench(2);
    bench.start();
    bench.open_origin();
    const GenerationNumbers asked = bench.asked();
    REQUIRE(asked.size() == 1);
    bench.core.stop(bench.now);
    bench.drain();
    bench.actions.clear();
    bench.answer(*asked.begin(), comes);
    bench.open_origin();
    bench.pass(10 * kSecond);
    CHECK(bench.asked().empty());
    CHECK(bench.core.report().bytes_from_origins == 0);
    CHECK(bench.take<core::DropRows>().empty());
  }
}

TEST_CASE("a generation from an origin proves nothing about rows that peers sent of it") {
  const Manifest manifest = plain_manifest(2, 1, OriginBench::kRowBytes);
  core::Parts parts(manifest.id, plain_options(), kSecond);
  REQUIRE(parts.membership.opened(1, peer_id(1), "192.0.2.1", 4000, 0, true));
  parts.start(manifest.info);
  core::Neighbour& sender = *parts.membership.find(1);
  const Fixture blocks(manifest);
  for (std::uint32_t g = 0; g < 2; ++g)
    parts.transfer->receiving.take(sender, blocks.block(g, g + 1, 0));
  REQUIRE(parts.transfer->generations.holdings().decoding(0));
  CHECK(parts.transfer->receiving.fetched(0));
  CHECK(sender.regard() == core::Regard::kNew);
  parts.transfer->receiving.decoded(1, core::DecodeOutcome::kVerified);
  CHECK(sender.regard() == core::Regard::kProven);
}
