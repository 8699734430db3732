// What a core asks of an origin, and when.
#include <algorithm>

#include "tests/core/receive/origin_bench.h"

using namespace firn;
using namespace firn::test;

// --- alone ---

TEST_CASE("an origin is asked while it is open") {
  OriginBench bench(8);
  bench.start();
  CHECK(bench.asked_within(10 * kSecond).empty());
  bench.open_origin();
  const GenerationNumbers first = bench.asked();
  REQUIRE(first.size() == 1);
  bench.open_origin(false);
  bench.answer(*first.begin(), false);
  CHECK(bench.asked_within(10 * kSecond).empty());
  bench.open_origin();
  CHECK_FALSE(bench.asked_within(kSecond).empty());
}

TEST_CASE("a peer alone fetches everything, in runs, two at a time once a generation has come") {
  OriginBench bench(200);
  bench.start();
  bench.open_origin();
  CHECK(bench.asked_within(kSecond / 2).size() == 1);
  bench.answer(bench.waiting.front());
  std::vector<core::FetchFromOrigin> two = bench.runs();
  REQUIRE(two.size() == 2);
  for (const core::FetchFromOrigin& run : two)
    CHECK(run.count <= 2);  // they take half a second each
  while (bench.core.report().generations_verified < 200) {
    if (bench.waiting.empty()) REQUIRE_FALSE(bench.runs().empty());
    bench.pass(kMillisecond);
    bench.answer(bench.waiting.front());
    for (const core::FetchFromOrigin& run : bench.runs()) two.push_back(run);
  }
  CHECK(bench.take<core::ContentComplete>().size() == 1);
  CHECK(bench.core.report().bytes_from_origins == 200 * OriginBench::kBytes);
  std::uint32_t longest = 0, all = 1;
  for (const core::FetchFromOrigin& run : two)
    longest = std::max(longest, run.count), all += run.count;
  CHECK(all == 200);  // each once
  CHECK(longest > 10);
}

TEST_CASE("a generation that no origin has is not asked for, and all others are") {
  OriginBench bench(20);
  bench.start();
  bench.open_origin();
  core::GenerationSet lacking(20);
  for (const std::uint32_t g : {3, 4, 19}) lacking.add(g);
  const GenerationNumbers first = bench.asked();
  bench.core.origins_lack(lacking, bench.now);
  for (const std::uint32_t g : first) bench.answer(g, !lacking.contains(g));
  const GenerationNumbers came = bench.serve(kMillisecond, 5 * kSecond);
  CHECK(bench.core.report().generations_verified == 17);
  for (const std::uint32_t g : {3, 4, 19}) CHECK_FALSE(came.contains(g));
}

TEST_CASE("a generation that did not come is asked for again, after a rest") {
  OriginBench bench(1);
  bench.start();
  bench.open_origin();
  REQUIRE(bench.asked() == GenerationNumbers{0});
  for (int i = 0; i < 3; ++i) {
    bench.answer(0, false);
    CHECK(bench.asked().empty());
    CHECK(bench.asked_within(kSecond) == GenerationNumbers{0});
  }
  bench.answer(0);
  CHECK(bench.take<core::ContentComplete>().size() == 1);
  CHECK(bench.asked_within(10 * kSecond).empty());
}

TEST_CASE("what is read now is asked for next") {
  OriginBench bench(200);
  bench.start();
  bench.open_origin();
  bench.asked();
  bench.pass(10 * kMillisecond);
  bench.answer(bench.waiting.front());
  const GenerationNumbers fetched = bench.asked();
  REQUIRE(bench.waiting.size() > 2);
  std::uint32_t awaited = 150;
  while (fetched.contains(awaited)) ++awaited;
  bench.core.hurry({{awaited, proto::kAwaited}}, bench.now);
  bench.drain();
  std::vector<core::FetchFromOrigin> next = (bench.pass(kSecond / 5), bench.runs());
  while (next.empty()) {
    bench.answer(bench.waiting.front());
    next = bench.runs();
  }
  CHECK(next.front().first == awaited);
}

TEST_CASE("only what is wanted is fetched") {
  OriginBench bench(8);
  core::StartState state;
  state.verified.assign(8, false);
  SUBCASE("from the start") {
    state.wanted = {false, true, false, true, false, false, false, true};
    bench.core.start(bench.manifest, state, false, bench.now);
  }
  SUBCASE("from later on") {
    bench.core.start(bench.manifest, state, false, bench.now);
    bench.core.want({false, true, false, true, false, false, false, true}, bench.now);
  }
  bench.drain();
  bench.open_origin();
  CHECK(bench.serve(kMillisecond, 5 * kSecond) == GenerationNumbers{1, 3, 7});
  CHECK(bench.take<core::ContentComplete>().size() == 1);
}

TEST_CASE("a complete peer fetches nothing") {
  OriginBench bench(8);
  bench.start(true);
  bench.open_origin();
  CHECK(bench.asked_within(10 * kSecond).empty());
}

TEST_CASE("of generations that were lost those are fetched that are wanted once more") {
  for (const bool again : {false, true}) {
    CAPTURE(again);
    OriginBench bench(4);
    core::StartState state;
    state.verified = {false, false, true, false};
    bench.core.start(bench.manifest, state, false, bench.now);
    bench.core.generation_lost(2, {ErrorCode::kCorrupt, "read", "changed"}, again, bench.now);
    bench.drain();
    bench.open_origin();
    CHECK(bench.serve(kMillisecond, 5 * kSecond) ==
          (again ? GenerationNumbers{0, 1, 2, 3} : GenerationNumbers{0, 1, 3}));
  }
}

TEST_CASE("nothing is fetched while the disk accepts nothing") {
  OriginBench bench(8);
  bench.start();
  bench.core.store_paused({ErrorCode::kDiskFull, "write", "full"}, bench.now);
  bench.open_origin();
  CHECK(bench.asked_within(10 * kSecond).empty());
  bench.core.store_resumed(bench.now);
  CHECK_FALSE(bench.asked_within(kSecond).empty());
}

TEST_CASE("an open origin wakes no core that is paused, or has asked for everything") {
  for (const bool paused : {true, false}) {
    CAPTURE(paused);
    const auto wakes = [paused](bool open) {
      OriginBench bench(1);
      bench.start();
      if (paused) bench.core.store_paused({ErrorCode::kDiskFull, "write", "full"}, bench.now);
      bench.open_origin(open);
      bench.pass(kSecond);
      CHECK(bench.asked().empty() == (paused || !open));
      return bench.pass(10 * kSecond);
    };
    CHECK(wakes(true) <= wakes(false));
  }
}

TEST_CASE("a down limit holds for what comes from an origin, and is used") {
  constexpr std::uint32_t kPerSecond = 4;
  core::Options options = plain_options();
  options.down_limit = kPerSecond * OriginBench::kBytes;
  OriginBench bench(400, options);
  bench.start();
  bench.open_origin();
  const TimeUs began = bench.now;
  std::size_t came = 0;
  while (bench.now - began < 20 * kSecond) {
    bench.asked();
    bench.pass(10 * kMillisecond);
    bench.asked();
    while (!bench.waiting.empty()) bench.answer(bench.waiting.front()), ++came;
  }
  CHECK(came <= 20 * kPerSecond + 4);
  CHECK(came >= 20 * kPerSecond * 8 / 10);
}

// --- beside neighbours ---

TEST_CASE("what a neighbour holds, has rows of or fetches is not asked of the origin") {
  OriginBench bench(8);
  bench.start();
  bench.open(1, peer_id(1));
  proto::State state;
  state.complete = {{0, 3}};
  state.generations = {{3, 2, 0, {}}};
  state.fetching = {{4, 2}};
  bench.say(1, state);
  bench.open_origin();
  const TimeUs began = bench.now;
  GenerationNumbers asked;
  while (bench.now - began < OriginBench::kHeldUp - 2 * OriginBench::kBegun) {
    asked.merge(bench.asked_within(kSecond / 4));
    if (bench.waiting.empty()) continue;
    bench.pass(facts::kUsualAtFirst);
    bench.answer(bench.waiting.front());
  }
  CHECK(asked == GenerationNumbers{6, 7});
}

TEST_CASE("what a neighbour reads is asked for next") {
  OriginBench bench(200);
  bench.start();
  bench.open(1, peer_id(1));
  bench.say_state(1, 0, 0, {reads(150)});
  bench.open_origin();
  CHECK(bench.asked_within(OriginBench::kBegun) == GenerationNumbers{150});
}

TEST_CASE("what a neighbour left without having it is asked for") {
  OriginBench bench(4);
  bench.start();
  bench.open(1, peer_id(1));
  bench.say_fetching(1, {{0, 4}});
  bench.open_origin();
  CHECK(bench.asked_within(OriginBench::kBegun).empty());
  SUBCASE("it says so") {
    bench.say_fetching(1, {});
  }
  SUBCASE("its connection is gone") {
    bench.core.peer_closed(1, bench.now);
  }
  CHECK_FALSE(bench.asked_within(OriginBench::kBegun).empty());
}

TEST_CASE("a claim lapses if none of it comes, also beside a neighbour that brings rows") {
  OriginBench bench(16);
  bench.start();
  bench.join(1, peer_id(1), 0);
  bench.say_fetching(1, {}, {{0, 8}});
  bench.open(2, peer_id(2));
  bench.say_fetching(2, {{8, 8}});
  bench.open_origin();
  const TimeUs began = bench.now;
  GenerationNumbers asked;
  for (std::uint32_t i = 0; bench.now - began < OriginBench::kHeldUp - kSecond; ++i) {
    bench.give_rows(1, i / OriginBench::kRows % 8, i % OriginBench::kRows, 1);
    bench.say_fetching(2, {{8, 8}});  // the same, which makes it no younger
    asked.merge(bench.asked_within(OriginBench::kHeldUp / 20));
  }
  REQUIRE(bench.core.report().blocks_innovative > 2 * OriginBench::kRows);
  CHECK(asked.empty());
  for (std::uint32_t g = 3; g < 8; ++g) {
    bench.give_rows(1, g, 3, 1);
    asked.merge(bench.asked_within(kSecond / 2 + OriginBench::kBegun / 5));
  }
  CHECK_FALSE(asked.empty());
  CHECK(std::ranges::includes(GenerationNumbers{8, 9, 10, 11, 12, 13, 14, 15}, asked));
}

TEST_CASE("neighbours that bring nothing hold the origin up for a while and no longer") {
  OriginBench bench(8);
  bench.start();
  SUBCASE("one that says that it holds everything") {
    bench.join(1, peer_id(1), 0, true);
  }
  SUBCASE("one that says that it fetches everything") {
    bench.open(1, peer_id(1));
    bench.say_fetching(1, {{0, 8}});
  }
  SUBCASE("one that says that it has rows of everything") {
    bench.open(1, peer_id(1));
    proto::State state;
    for (std::uint32_t g = 0; g < 8; ++g) state.generations.push_back({g, 2, 0, {}});
    bench.say(1, state);
  }
  bench.open_origin();
  CHECK(bench.asked_within(OriginBench::kHeldUp - kSecond / 2).empty());
  CHECK_FALSE(bench.asked_within(kSecond / 2 + OriginBench::kBegun).empty());
  // And for none of the others any more.
  CHECK(bench.serve(10 * kMillisecond, 2 * OriginBench::kBegun) ==
        GenerationNumbers{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(bench.take<core::ContentComplete>().size() == 1);
}

TEST_CASE("claims made anew again and again hold the origin up no longer") {
  OriginBench bench(8);
  bench.start();
  bench.open(1, peer_id(1));
  bench.open_origin();
  const TimeUs began = bench.now;
  while (bench.now - began < OriginBench::kHeldUp + OriginBench::kBegun) {
    bench.say_fetching(1, {{0, 8}});
    bench.pass(kSecond / 4);
    bench.say_fetching(1, {});
  }
  CHECK_FALSE(bench.asked().empty());
}

TEST_CASE("States tell what is fetched until it has come, or will not") {
  for (const bool comes : {true, false}) {
    CAPTURE(comes);
    OriginBench bench(8);
    bench.start();
    bench.open(1, peer_id(1));
    bench.say(1, proto::State{});
    bench.open_origin();
    const GenerationNumbers asked = bench.asked_within(OriginBench::kBegun);
    REQUIRE(asked.size() == 1);
    const std::vector<proto::State> told = bench.heard<proto::State>(1);
    REQUIRE_FALSE(told.empty());
    CHECK(told.back().fetching == std::vector<proto::Span>{{*asked.begin(), 1}});
    bench.core.origin_open(false, bench.now);
    bench.answer(*asked.begin(), comes);
    bench.pass(kSecond);
    const std::vector<proto::State> then = bench.heard<proto::State>(1);
    REQUIRE_FALSE(then.empty());
    CHECK(then.back().fetching.empty());
    bool held = false;
    for (const proto::State& state : then)
      held |= state.complete == std::vector<proto::Span>{{*asked.begin(), 1}};
    CHECK(held == comes);
  }
}

TEST_CASE("a generation whose rows stop coming is asked of the origin") {
  OriginBench bench(1);
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  bench.give_rows(1, 0, 0, 2);
  bench.core.peer_closed(1, bench.now);
  bench.open_origin();
  const TimeUs stands = facts::stands_after(facts::kUsualAtFirst);
  CHECK(bench.asked_within(stands - kSecond / 2).empty());
  CHECK(bench.asked_within(kSecond) == GenerationNumbers{0});
  bench.answer(0);
  CHECK(bench.core.report().bytes_from_origins == OriginBench::kBytes);
  CHECK(bench.take<core::DropRows>().size() == 1);
}
