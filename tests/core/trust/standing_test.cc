// What is known of rows over the life of a process: told to the driver, and taken over from it.
#include "codec/encode.h"
#include "proto/base/limits.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Standing;

namespace {

constexpr PeerKey kProver = 1, kPeer = 2;
constexpr std::uint32_t kRowsIn = 4;
using Slots = std::vector<std::uint32_t>;
using Bytes = std::vector<std::uint8_t>;

class StandingFixture : public Fixture {
 public:
  StandingFixture() : Fixture(vouched_manifest(4, kRowsIn, 8192)) {}
  // With rows of generation 0 that an earlier run left, the source blocks of their slots.
  void start_with(const std::vector<std::pair<PeerId, Standing>>& rows) {
    core::StartState state;
    state.verified.resize(shape().generation_count());
    for (std::uint32_t slot = 0; slot < rows.size(); ++slot) {
      const auto& [sender, standing] = rows[slot];
      state.rows.push_back({0, slot, codec::unit_vector(kRowsIn, slot), sender, standing});
    }
    core.start(manifest, state, false, now);
    drain();
  }
  // A downloader that has nothing.
  void join_empty(PeerKey peer, const PeerId& id, bool proven_only) {
    open(peer, id);
    proto::State state;
    state.credit = 8;
    state.proven_only = proven_only;
    say(peer, state);
    pass(kSecond);
  }
  // The false ones of these slots of generation 0, by the speaker's sums.
  void judge(const Slots& right, const Slots& wrong) {
    pass(kSecond);
    say(kProver, proto::CheckReply{0, Bytes(limits::kCheckKeyBytes, 5), Bytes(kRowsIn * 4, 6)});
    core.rows_judged(0, right, wrong, true, now);
    drain();
  }
};

}  // namespace

TEST_CASE("a row is stored with what is known of it, and the driver hears when it is proven") {
  StandingFixture fixture;
  fixture.start();
  fixture.join(kPeer, peer_id(2), 0, true);
  const auto standing_of = [&](PeerKey peer, const proto::Block& block) {
    fixture.pass(300 * kMillisecond);
    fixture.say(peer, block);
    const auto stored = fixture.take<core::StoreRow>();
    REQUIRE(stored.size() == 1);
    return stored[0].standing;
  };
  fixture.pass(facts::kNoAuthority);  // no authority: any block is taken
  proto::Block unproven = fixture.block(0, 1, 0);
  unproven.unproven = true;
  CHECK(standing_of(kPeer, unproven) == Standing::kUnanswered);
  CHECK(standing_of(kPeer, fixture.block(0, 2, 1)) == Standing::kAnswered);
  fixture.join_certified(kProver, peer_id(1), peer_id(1));
  CHECK(standing_of(kProver, fixture.block(0, 1, 2)) == Standing::kProven);
  CHECK(fixture.take<core::MarkProven>().empty());
  fixture.judge({1}, {0});
  const auto marked = fixture.take<core::MarkProven>();
  REQUIRE(marked.size() == 1);
  CHECK(marked[0].generation == 0);
  CHECK(marked[0].slots == Slots{1});
}

TEST_CASE("a peer that starts again answers for the rows that it knows to be true, and no others") {
  const PeerId sender = peer_id(9);
  StandingFixture fixture;
  fixture.start_with(
      {{sender, Standing::kAnswered}, {sender, Standing::kProven}, {sender, Standing::kProven}});
  fixture.join_empty(3, peer_id(3), true);
  const auto proven = fixture.blocks_to(3);
  REQUIRE_FALSE(proven.empty());
  for (const core::SendBlock& sent : proven) {
    CHECK_FALSE(sent.block.unproven);
    CHECK(std::ranges::find(sent.slots, 0u) == sent.slots.end());
  }
  fixture.join_empty(4, peer_id(4), false);
  const auto any = fixture.blocks_to(4);
  REQUIRE_FALSE(any.empty());
  CHECK(std::ranges::any_of(any, [](const auto& sent) { return sent.block.unproven; }));
}

TEST_CASE("of an earlier run's false rows those convict their senders for which they answered") {
  StandingFixture fixture;
  fixture.start_with({{peer_id(2), Standing::kAnswered}, {peer_id(3), Standing::kUnanswered}});
  fixture.join_certified(kProver, peer_id(1), peer_id(1));
  fixture.judge({}, {0, 1});
  CHECK(fixture.core.report().rank == 0);
  CHECK(fixture.noticed(peer_id(2).text()));
  CHECK_FALSE(fixture.noticed(peer_id(3).text()));
}
