// What a core asks of an origin, and what becomes of the answers.
#include <doctest/doctest.h>

#include <deque>
#include <set>

#include "client/core/parts.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::DecodeOutcome;
using core::FetchFromOrigin;

namespace {

constexpr std::uint32_t kBlocks = 4, kBlockBytes = 16;
constexpr std::uint64_t kGenerationBytes = std::uint64_t{kBlocks} * kBlockBytes;
using Set = std::set<std::uint32_t>;

Set range(std::uint32_t first, std::uint32_t end) {
  Set all;
  for (std::uint32_t g = first; g < end; ++g) all.insert(g);
  return all;
}

// A core and the origin that it may ask.
struct OriginBench : Fixture {
  explicit OriginBench(std::uint32_t generations, core::Options options = plain_options())
      : Fixture(plain_manifest(generations, kBlocks, kBlockBytes), std::move(options)) {}

  void open_origin(bool open = true) {
    core.origin_open(open, now);
    drain();
  }
  // Runs asked for since the last call.
  std::vector<FetchFromOrigin> runs() {
    const auto some = take<FetchFromOrigin>();
    for (const FetchFromOrigin& run : some)
      for (std::uint32_t i = 0; i < run.count; ++i) waiting.push_back(run.first + i);
    return some;
  }
  // The same, as generations; none of them was asked for already.
  Set asked() {
    Set all;
    for (const FetchFromOrigin& run : runs())
      for (std::uint32_t i = 0; i < run.count; ++i) CHECK(all.insert(run.first + i).second);
    return all;
  }
  Set asked_within(TimeUs time) {
    pass(time);
    return asked();
  }
  void answer(std::uint32_t g, bool verified = true) {
    std::erase(waiting, g);
    core.generation_fetched(g, verified, now);
    drain();
  }
  // Each generation comes `each` after the one before, until nothing has been asked for during
  // `patience`. Returns what came.
  Set serve(TimeUs each, TimeUs patience) {
    Set came;
    for (TimeUs last = now; now - last < patience;) {
      asked();
      if (waiting.empty()) {
        pass(patience / 4);
        continue;
      }
      pass(each);
      came.insert(waiting.front());
      answer(waiting.front());
      last = now;
    }
    return came;
  }
  // A neighbour sends rows of g that are new here.
  void give_rows(PeerKey peer, std::uint32_t g, std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t i = first; i < first + count; ++i) say(peer, block(g, ++sequence, i));
  }
  void say_fetching(PeerKey peer, std::vector<proto::Span> fetching,
                    std::vector<proto::Span> complete = {}) {
    proto::State state;
    state.fetching = std::move(fetching);
    state.complete = std::move(complete);
    say(peer, state);
  }

  std::deque<std::uint32_t> waiting;  // asked for, not answered
  std::uint32_t sequence = 0;         // of the one neighbour that sends rows
};

// A peer that knows nothing of how fast an origin is, and waits for its turn, has begun.
constexpr TimeUs kBegun = facts::kUsualAtFirst + kSecond / 2;
constexpr TimeUs kHeldUp = facts::lapses_after(facts::kUsualAtFirst);

const Error kFull{ErrorCode::kDiskFull, "write", "full"};
const Error kChanged{ErrorCode::kCorrupt, "read", "changed"};

}  // namespace

// --- alone ---

TEST_CASE("an origin is asked while it is open") {
  OriginBench bench(8);
  bench.start();
  CHECK(bench.asked_within(10 * kSecond).empty());
  bench.open_origin();
  const Set first = bench.asked();
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
  std::vector<FetchFromOrigin> two = bench.runs();
  REQUIRE(two.size() == 2);
  for (const FetchFromOrigin& run : two) CHECK(run.count <= 2);  // they take half a second each
  while (bench.core.report().generations_verified < 200) {
    if (bench.waiting.empty()) REQUIRE_FALSE(bench.runs().empty());
    bench.pass(kMillisecond);
    bench.answer(bench.waiting.front());
    for (const FetchFromOrigin& run : bench.runs()) two.push_back(run);
  }
  CHECK(bench.take<core::ContentComplete>().size() == 1);
  CHECK(bench.core.report().bytes_from_origins == 200 * kGenerationBytes);
  std::uint32_t longest = 0, all = 1;
  for (const FetchFromOrigin& run : two) longest = std::max(longest, run.count), all += run.count;
  CHECK(all == 200);  // each once
  CHECK(longest > 10);
}

TEST_CASE("a generation that did not come is asked for again, after a rest") {
  OriginBench bench(1);
  bench.start();
  bench.open_origin();
  REQUIRE(bench.asked() == Set{0});
  for (int i = 0; i < 3; ++i) {
    bench.answer(0, false);
    CHECK(bench.asked().empty());
    CHECK(bench.asked_within(kSecond) == Set{0});
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
  const Set fetched = bench.asked();
  REQUIRE(bench.waiting.size() > 2);
  std::uint32_t awaited = 150;
  while (fetched.contains(awaited)) ++awaited;
  bench.core.hurry({{awaited, proto::kAwaited}}, bench.now);
  bench.drain();
  std::vector<FetchFromOrigin> next = (bench.pass(kSecond / 5), bench.runs());
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
  CHECK(bench.serve(kMillisecond, 5 * kSecond) == Set{1, 3, 7});
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
    bench.core.generation_lost(2, kChanged, again, bench.now);
    bench.drain();
    bench.open_origin();
    CHECK(bench.serve(kMillisecond, 5 * kSecond) == (again ? Set{0, 1, 2, 3} : Set{0, 1, 3}));
  }
}

TEST_CASE("nothing is fetched while the disk accepts nothing") {
  OriginBench bench(8);
  bench.start();
  bench.core.store_paused(kFull, bench.now);
  bench.open_origin();
  CHECK(bench.asked_within(10 * kSecond).empty());
  bench.core.store_resumed(bench.now);
  CHECK_FALSE(bench.asked_within(kSecond).empty());
}

TEST_CASE("a down limit holds for what comes from an origin, and is used") {
  constexpr std::uint32_t kPerSecond = 4;
  core::Options options = plain_options();
  options.down_limit = kPerSecond * kGenerationBytes;
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
  Set asked;
  while (bench.now - began < kHeldUp - 2 * kBegun) {
    asked.merge(bench.asked_within(kSecond / 4));
    if (bench.waiting.empty()) continue;
    bench.pass(facts::kUsualAtFirst);
    bench.answer(bench.waiting.front());
  }
  CHECK(asked == Set{6, 7});
}

TEST_CASE("what a neighbour reads is asked for next") {
  OriginBench bench(200);
  bench.start();
  bench.open(1, peer_id(1));
  bench.say_state(1, 0, 0, {reads(150)});
  bench.open_origin();
  CHECK(bench.asked_within(kBegun) == Set{150});
}

TEST_CASE("what a neighbour left without having it is asked for") {
  OriginBench bench(4);
  bench.start();
  bench.open(1, peer_id(1));
  bench.say_fetching(1, {{0, 4}});
  bench.open_origin();
  CHECK(bench.asked_within(kBegun).empty());
  SUBCASE("it says so") {
    bench.say_fetching(1, {});
  }
  SUBCASE("its connection is gone") {
    bench.core.peer_closed(1, bench.now);
  }
  CHECK_FALSE(bench.asked_within(kBegun).empty());
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
  Set asked;
  for (std::uint32_t i = 0; bench.now - began < kHeldUp - kSecond; ++i) {
    bench.give_rows(1, i / kBlocks % 8, i % kBlocks, 1);
    bench.say_fetching(2, {{8, 8}});  // the same, which makes it no younger
    asked.merge(bench.asked_within(kHeldUp / 20));
  }
  REQUIRE(bench.core.report().blocks_innovative > 2 * kBlocks);
  CHECK(asked.empty());
  for (std::uint32_t g = 3; g < 8; ++g) {
    bench.give_rows(1, g, 3, 1);
    asked.merge(bench.asked_within(kSecond / 2 + kBegun / 5));
  }
  CHECK_FALSE(asked.empty());
  CHECK(std::ranges::includes(range(8, 16), asked));
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
  CHECK(bench.asked_within(kHeldUp - kSecond / 2).empty());
  CHECK_FALSE(bench.asked_within(kSecond / 2 + kBegun).empty());
  // And for none of the others any more.
  CHECK(bench.serve(10 * kMillisecond, 2 * kBegun) == range(0, 8));
  CHECK(bench.take<core::ContentComplete>().size() == 1);
}

TEST_CASE("claims made anew again and again hold the origin up no longer") {
  OriginBench bench(8);
  bench.start();
  bench.open(1, peer_id(1));
  bench.open_origin();
  const TimeUs began = bench.now;
  while (bench.now - began < kHeldUp + kBegun) {
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
    const Set asked = bench.asked_within(kBegun);
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
  CHECK(bench.asked_within(kSecond) == Set{0});
  bench.answer(0);
  CHECK(bench.core.report().bytes_from_origins == kGenerationBytes);
  CHECK(bench.take<core::DropRows>().size() == 1);
}

// --- answers that others overtake ---

TEST_CASE("a generation that comes once it is not wanted any more is kept") {
  OriginBench bench(2);
  bench.start();
  bench.open_origin();
  const Set asked = bench.asked();
  REQUIRE(asked.size() == 1);
  const std::uint32_t g = *asked.begin();
  bench.core.want({g != 0, g != 1}, bench.now);
  bench.drain();
  SUBCASE("it comes") {
    bench.answer(g);
    CHECK(bench.core.report().generations_verified == 1);
    CHECK(bench.core.report().bytes_from_origins == kGenerationBytes);
  }
  SUBCASE("it does not") {
    bench.answer(g, false);
    CHECK(bench.core.report().generations_verified == 0);
  }
  CHECK(bench.serve(kMillisecond, 5 * kSecond) == Set{1 - g});
  CHECK(bench.take<core::ContentComplete>().size() == 1);
}

namespace {

// Generation 0 is asked for; meanwhile all its rows come from a neighbour.
void rows_overtake(OriginBench& bench) {
  bench.start();
  bench.core.want({true, false}, bench.now);
  bench.drain();
  bench.open_origin();
  REQUIRE(bench.asked() == Set{0});
  bench.join(1, peer_id(1), 0, true);
  bench.give_rows(1, 0, 0, kBlocks);
  REQUIRE(bench.take<core::Decode>().size() == 1);
}

}  // namespace

TEST_CASE("a generation that comes after its rows were decoded counts as come from peers") {
  OriginBench bench(2);
  rows_overtake(bench);
  bench.core.generation_decoded(0, DecodeOutcome::kVerified, bench.now);
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
  for (const DecodeOutcome outcome :
       {DecodeOutcome::kCorrupt, DecodeOutcome::kFailed, DecodeOutcome::kVerified}) {
    bench.core.generation_decoded(0, outcome, bench.now);
    bench.pass(kSecond);
  }
  CHECK(bench.take<core::DropRows>().size() == 1);
  CHECK(bench.core.report().generations_verified == 1);
  CHECK(bench.core.report().bytes_from_origins == kGenerationBytes);
  CHECK_FALSE(bench.noticed("false"));
  CHECK_FALSE(bench.closed(1));
}

TEST_CASE("what is decoded is not asked of the origin, until it could not be") {
  OriginBench bench(1);
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  bench.give_rows(1, 0, 0, kBlocks);
  REQUIRE(bench.take<core::Decode>().size() == 1);
  bench.core.peer_closed(1, bench.now);
  bench.open_origin();
  CHECK(bench.asked_within(2 * facts::stands_after(facts::kUsualAtFirst)).empty());
  bench.core.generation_decoded(0, DecodeOutcome::kFailed, bench.now);
  CHECK(bench.asked_within(kSecond) == Set{0});
}

TEST_CASE("answers after the stop change nothing") {
  for (const bool comes : {true, false}) {
    OriginBench bench(2);
    bench.start();
    bench.open_origin();
    const Set asked = bench.asked();
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
  const Manifest manifest = plain_manifest(2, 1, kBlockBytes);
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
  parts.transfer->receiving.decoded(1, DecodeOutcome::kVerified);
  CHECK(sender.regard() == core::Regard::kProven);
}
