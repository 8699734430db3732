// Large meshes in which false rows are about: all generations are fetched as source blocks from
// their beginning.
#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "client/core/parts.h"
#include "client/core/trust/plain_mode.h"
#include "proto/base/digest.h"
#include "tests/core/facts.h"
#include "tests/core/trust/inside.h"
#include "tests/core/trust/large_mesh_fixture.h"
#include "tests/sampled.h"

namespace plain_mode_test {

using namespace firn;
using namespace firn::test;
using core::DecodeOutcome;

namespace {

constexpr std::uint32_t kN = 8, kBytes = 64;
constexpr PeerKey kSource = 1, kGood = 2, kOther = 3, kLast = facts::kLargeMesh + 5;

std::vector<Digest> leaves() {
  return {kN, merkle_leaf(std::vector<std::uint8_t>(kBytes))};
}

// A source, and others that make a large mesh with it.
class LargeFixture : public Fixture {
 public:
  explicit LargeFixture(PeerKey last = kLast) : Fixture(content(), roomy()) {
    start();
    join(kSource, numbered(kSource), 0, true);
    for (PeerKey peer = kGood; peer <= last; ++peer)
      join(peer, numbered(static_cast<std::uint32_t>(peer)), 0);
    pass(kSecond);
  }
  static Manifest content() {
    Manifest manifest = plain_manifest(40, kN, kBytes);
    manifest.info.generation_digests.assign(40, merkle_root(leaves()));
    return manifest;
  }
  // Whether it was taken as a row.
  bool send(PeerKey peer, proto::Block block) {
    pass(300 * kMillisecond);
    take<core::StoreRow>();
    block.sequence = ++sequence_[peer];
    say(peer, std::move(block));
    return !take<core::StoreRow>().empty();
  }
  proto::Block coded(std::uint32_t g, std::uint32_t i) {
    std::vector<std::uint8_t> vector(kN);
    vector[i] = 1;
    vector[(i + 1) % kN] = 2;
    proto::Block block = coded_block(g, 1, std::move(vector));
    block.recoded = block.unproven = true;
    return block;
  }
  // Generation g decodes to false data.
  void spoil(std::uint32_t g) {
    for (std::uint32_t i = 0; i < kN; ++i) REQUIRE(send(i % 2 == 0 ? kGood : kOther, coded(g, i)));
    REQUIRE(take<core::Decode>().size() == 1);
    core.generation_decoded(g, DecodeOutcome::kCorrupt, now);
    drain();
    pass(kMillisecond);
  }
  // Leaves of which were asked for, of anybody; with `answer` they come.
  std::set<std::uint32_t> asked(bool answer) {
    std::set<std::uint32_t> all;
    for (bool more = true; more;) {
      more = false;
      for (PeerKey peer = kSource; peer <= kLast; ++peer) {
        for (const proto::LeafRequest& request : heard<proto::LeafRequest>(peer)) {
          for (const std::uint32_t g : request.generations) {
            all.insert(g);
            if (!answer) continue;
            say(peer, proto::LeafReply{g, leaves()});
            more = true;
          }
        }
      }
      pass(10 * kMillisecond);
    }
    return all;
  }
  // How many it was asked for since the last call.
  std::size_t leaf_requests(PeerKey peer, bool answer) {
    std::size_t all = 0;
    for (const proto::LeafRequest& request : heard<proto::LeafRequest>(peer)) {
      all += request.generations.size();
      for (const std::uint32_t g : request.generations)
        if (answer) say(peer, proto::LeafReply{g, leaves()});
    }
    pass(10 * kMillisecond);
    return all;
  }
  // What the neighbour was told of g last.
  std::optional<proto::GenerationState> told(PeerKey peer, std::uint32_t g) {
    std::optional<proto::GenerationState> last;
    for (const proto::State& state : heard<proto::State>(peer)) {
      for (const auto& entry : state.generations)
        if (entry.generation == g) last = entry;
    }
    return last;
  }
  // The neighbour fetches generation g plainly, and holds these of its blocks.
  void tell(PeerKey peer, std::uint32_t g, std::uint8_t held) {
    proto::GenerationState entry;
    entry.generation = g;
    entry.rank = static_cast<std::uint32_t>(std::popcount(held));
    entry.quota = 1;
    entry.wanted_blocks = {static_cast<std::uint8_t>(~held)};
    entry.held_blocks = {held};
    say_state(peer, 0, 0, {entry});
  }

 private:
  std::map<PeerKey, std::uint32_t> sequence_;
};

constexpr std::uint32_t kAhead = 3;  // a generation that has not begun

}  // namespace

TEST_CASE("after a false generation all are fetched plainly, and blocks that are held are told") {
  LargeFixture fixture;
  fixture.spoil(0);
  CHECK(fixture.asked(true).contains(kAhead));
  CHECK(fixture.asked(true).empty());
  CHECK_FALSE(fixture.send(kGood, fixture.coded(kAhead, 0)));
  CHECK(fixture.send(kSource, fixture.block(kAhead, 1, 5)));
  fixture.pass(kSecond);
  const auto told = fixture.told(kGood, kAhead);
  REQUIRE(told.has_value());
  CHECK(told->held_blocks == std::vector<std::uint8_t>{1 << 5});
  CHECK(told->wanted_blocks.size() == 1);
}

TEST_CASE("in a small mesh no generation is fetched plainly but those in trouble") {
  LargeFixture fixture(12);
  for (std::uint32_t g = 0; g < 3; ++g) {
    for (std::uint32_t i = 0; i < kN; ++i)
      REQUIRE(fixture.send(i % 2 == 0 ? kGood : kOther, fixture.coded(g, i)));
    fixture.core.generation_decoded(g, DecodeOutcome::kCorrupt, fixture.now);
    fixture.drain();
    fixture.pass(facts::kSumsOverdue + kSecond);
    CHECK_FALSE(fixture.asked(true).contains(5));
  }
  CHECK(fixture.send(kGood, fixture.coded(5, 0)));
}

TEST_CASE("a generation whose leaves nobody hands out is fetched as coded blocks in the end") {
  LargeFixture fixture;
  fixture.spoil(0);
  CHECK_FALSE(fixture.send(kGood, fixture.coded(kAhead, 0)));
  fixture.pass(facts::kLeavesGivenUp);
  CHECK(fixture.send(kGood, fixture.coded(kAhead, 1)));
}

TEST_CASE("when nothing false was met for a while coded blocks are fetched again") {
  LargeFixture fixture;
  fixture.spoil(0);
  REQUIRE(fixture.asked(true).contains(kAhead));
  REQUIRE_FALSE(fixture.send(kGood, fixture.coded(kAhead, 0)));
  fixture.pass(facts::kPlainModeOver);
  CHECK(fixture.send(kGood, fixture.coded(kAhead, 0)));
}

TEST_CASE("where false rows come back soon after its end, it lasts twice as long") {
  core::Parts parts(LargeFixture::content().id, large_mesh_options(), kSecond);
  parts.start(LargeFixture::content().info);
  parts.trackers.replied(0, told_of(100));
  const Inside inside(parts);
  core::trust::PlainMode mode(inside.world, inside.regime);
  const auto steps_after = [&](TimeUs time) {
    parts.context.now += time;
    return mode.step();
  };
  CHECK_FALSE(mode.step());
  mode.met_false();
  CHECK(mode.step());
  REQUIRE(mode.on());
  CHECK_FALSE(steps_after(facts::kPlainModeOver - 1));
  CHECK(steps_after(1));
  REQUIRE_FALSE(mode.on());
  mode.met_false();
  REQUIRE(mode.step());
  CHECK_FALSE(steps_after(facts::kPlainModeOver));
  CHECK(steps_after(facts::kPlainModeOver));
  // Later it begins as at first.
  parts.context.now += facts::kPlainModeForgotten;
  mode.met_false();
  REQUIRE(mode.step());
  CHECK(steps_after(facts::kPlainModeOver));
}

TEST_CASE("a false row that was met while the mesh was small counts for a minute") {
  for (const bool soon : {true, false}) {
    CAPTURE(soon);
    core::Parts parts(LargeFixture::content().id, large_mesh_options(), kSecond);
    parts.start(LargeFixture::content().info);
    const Inside inside(parts);
    core::trust::PlainMode mode(inside.world, inside.regime);
    mode.met_false();
    CHECK_FALSE(mode.step());
    parts.context.now += facts::kPlainModeForgotten - (soon ? 1 : 0);
    parts.trackers.replied(0, told_of(100));
    CHECK(mode.step() == soon);
    CHECK(mode.on() == soon);
  }
}

TEST_CASE("source blocks that came before the leaves stay if they fit them, and convict if not") {
  for (const bool is_false : {false, true}) {
    CAPTURE(is_false);
    LargeFixture fixture;
    REQUIRE(fixture.send(kGood, fixture.coded(kAhead, 0)));
    proto::Block first = fixture.block(kAhead, 1, 6);
    if (is_false) first.payload.writable()[9] = 1;
    REQUIRE(fixture.send(kSource, std::move(first)));
    fixture.spoil(0);
    REQUIRE(fixture.asked(true).contains(kAhead));
    fixture.pass(kSecond);
    CHECK(fixture.closed(kSource) == is_false);
    CHECK(fixture.noticed("sent a false block of generation 3") == is_false);
    const auto told = fixture.told(kGood, kAhead);
    REQUIRE(told.has_value());
    CHECK(told->rank == (is_false ? 0 : 1));
    CHECK(told->held_blocks ==
          std::vector<std::uint8_t>{is_false ? std::uint8_t{0} : std::uint8_t{1 << 6}});
  }
}

TEST_CASE("a block that neighbours say they hold is asked of one of them at a time") {
  LargeFixture fixture;
  fixture.spoil(0);
  REQUIRE(fixture.asked(true).contains(kAhead));
  for (PeerKey peer = 10; peer < 16; ++peer) {
    REQUIRE(fixture.send(peer, fixture.block(kAhead, 1, static_cast<std::uint32_t>(peer - 10))));
    fixture.tell(peer, kAhead, 0xc0);
  }
  fixture.now = (fixture.now / facts::kNextTurn + 1) * facts::kNextTurn;
  fixture.pass(kMillisecond);
  for (PeerKey peer = kSource; peer <= kLast; ++peer) fixture.heard<proto::State>(peer);
  REQUIRE(fixture.send(16, fixture.block(kAhead, 1, 0)) == false);  // each is told anew
  fixture.pass(600 * kMillisecond);
  std::uint32_t times = 0;
  for (PeerKey peer = kSource; peer <= kLast; ++peer) {
    const auto told = fixture.told(peer, kAhead);
    if (told && !told->wanted_blocks.empty()) times += (told->wanted_blocks[0] >> 6 & 1);
  }
  CHECK(times == 1);
}

// The receiver of a State that names more than limits::kWantedBlocksMax punishes its sender.
TEST_CASE("however leaves come, no more generations are fetched plainly than a State can name") {
  LargeFixture fixture;
  fixture.spoil(0);
  std::ptrdiff_t most = 0;
  constexpr std::uint32_t kSeconds = std::max(14u, test::some_of(40));  // fewer bring too few
  for (PeerKey peer = kOther; peer < kLast; ++peer)                     // they have leaves
    for (std::uint32_t g = 0; g < 40; g += 20) fixture.tell(peer, g, 0x01);
  for (std::uint32_t second = 0; second < kSeconds; ++second) {
    fixture.asked(second % 8 == 7);  // most answers come late: generations rest before
    for (std::uint32_t g = 2; g < 40; ++g) fixture.send(kGood, fixture.coded(g, second % kN));
    for (const proto::State& state : fixture.heard<proto::State>(kGood)) {
      const auto wanting = std::count_if(
          state.generations.begin(), state.generations.end(),
          [](const proto::GenerationState& entry) { return !entry.wanted_blocks.empty(); });
      CHECK(static_cast<std::size_t>(wanting) <= limits::kWantedBlocksMax);
      most = std::max(most, wanting);
    }
    fixture.pass(facts::kBlocksGivenUp / 8);
  }
  CHECK(static_cast<std::size_t>(most) > limits::kWantedBlocksMax / 2);
}

TEST_CASE("what has to wait is asked for again when all are fetched as coded blocks again") {
  LargeFixture fixture;
  fixture.spoil(0);
  CHECK_FALSE(fixture.send(kGood, fixture.coded(kAhead, 0)));
  fixture.pass(kSecond);
  auto told = fixture.told(kSource, kAhead);
  REQUIRE(told.has_value());
  CHECK(told->quota == 0);
  fixture.pass(facts::kLeavesGivenUp);
  told = fixture.told(kSource, kAhead);
  REQUIRE(told.has_value());
  CHECK(told->quota > 0);
}

// Else neighbours would unlearn that this peer has it.
TEST_CASE("a verified generation is told as complete, also where no more can be fetched plainly") {
  LargeFixture fixture;
  fixture.spoil(0);
  fixture.asked(true);
  for (std::uint32_t i = 0; i < kN; ++i) fixture.send(kSource, fixture.block(0, 1, i));
  REQUIRE(fixture.take<core::Decode>().size() == 1);
  fixture.core.generation_decoded(0, DecodeOutcome::kVerified, fixture.now);
  fixture.drain();
  for (std::uint32_t last = 4; last < 40; last += 4) {
    fixture.send(kSource, fixture.block(std::min(last, 39u), 1, 0));  // the front goes on
    fixture.asked(true);
  }
  REQUIRE_FALSE(fixture.send(kGood, fixture.coded(39, 1)));  // no more are taken
  fixture.heard<proto::State>(kGood);
  fixture.send(kGood, fixture.coded(0, 0));  // late
  fixture.pass(kSecond);
  bool told = false;
  for (const proto::State& state : fixture.heard<proto::State>(kGood)) {
    for (const proto::Span& span : state.complete) told |= span.first == 0;
    for (const proto::GenerationState& entry : state.generations) CHECK(entry.generation != 0);
  }
  CHECK(told);
}

TEST_CASE("a neighbour that did not answer when asked for leaves is asked last") {
  LargeFixture fixture;
  for (std::uint32_t g = 0; g < 12; ++g) fixture.tell(kOther, g, 0x01);
  fixture.spoil(0);
  // Not of the source first, which is to send blocks.
  fixture.pass(facts::kLeavesOverdue / 2);
  CHECK(fixture.leaf_requests(kOther, false) > 0);
  CHECK(fixture.leaf_requests(kSource, true) == 0);
  fixture.pass(facts::kLeavesOverdue);
  fixture.leaf_requests(kOther, false);
  CHECK(fixture.leaf_requests(kSource, true) > 0);
  while (fixture.leaf_requests(kSource, true) > 0) {
  }
  fixture.send(kSource, fixture.block(7, 1, 0));  // the front is there now
  fixture.pass(kSecond);
  CHECK(fixture.leaf_requests(kSource, true) > 0);
  CHECK(fixture.leaf_requests(kOther, false) == 0);
}

}  // namespace plain_mode_test
