// A finished download that serves many: the same neighbour comes first as by a look at all.
#include "client/core/policy/relay_line.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "client/core/policy/constants.h"
#include "client/core/policy/relay_policy.h"
#include "codec/random.h"
#include "tests/core/policy/scene.h"

using namespace firn;
using namespace firn::test;
using core::Neighbour;
using core::policy::RelayLine;
using core::policy::RelayPolicy;
namespace policy = core::policy;

namespace {

constexpr std::uint32_t kServed = 20, kRelayed = 4, kRows = 64;

// Neighbours of a relay that has everything, to which things happen by chance.
class Served {
 public:
  explicit Served(std::uint64_t seed)
      : scene_(kRelayed, kRows, kServed, true, 40), relay_(seed, 0), random_(seed, 4) {
    scene_.now = 2 * policy::kTakerTime;
    for (core::PeerKey key = 1; key <= kServed; ++key) {
      if (key % 5 == 0) scene_.peer(key).grants.grant(1, 0);  // it never gives what it might
      say(key);
    }
  }
  void happen() {
    scene_.now += 1000;
    const core::PeerKey key = 1 + random_.below(kServed);
    Neighbour* n = scene_.neighbours.find(key);
    if (!n) return;
    if (random_.below(400) == 0) {
      relay_.leaves(key);
      scene_.neighbours.erase(key);
    } else if (random_.below(4) == 0) {
      say(key);
    } else {
      n->block_departed(kBlockBytes, scene_.now);
      relay_.told(*n, scene_.now);
    }
  }
  // One more choice, which is sent. Whether somebody was served, and for an optimistic choice.
  enum class Outcome { kNobody, kFirst, kOptimistic };
  Outcome choose() {
    const policy::Sockets sockets = scene_.sockets();
    const core::PeerKey first = first_of(false, sockets), any = first_of(true, sockets);
    const std::uint64_t walks = scene_.neighbours.walks();
    const auto choice = relay_.choose(scene_.holdings, scene_.neighbours,
                                      {false, core::kNever}, sockets, scene_.now);
    walked_ += scene_.neighbours.walks() - walks;
    REQUIRE(choice.has_value() == (any != core::kNoPeer));
    if (!choice) return Outcome::kNobody;
    const std::uint64_t turn = turn_of(scene_.peer(choice->peer));
    const bool is_first = turn == turn_of(scene_.peer(first));
    REQUIRE((is_first || turn == turn_of(scene_.peer(any))));
    REQUIRE(has_something_for(scene_.peer(choice->peer)));
    last_choice_[choice->peer] = ++choices_;
    Neighbour& n = scene_.peer(choice->peer);
    n.book_block(choice->generation, scene_.now);
    relay_.told(n, scene_.now);
    return is_first ? Outcome::kFirst : Outcome::kOptimistic;
  }
  std::uint64_t walked() const { return walked_; }

 private:
  void say(core::PeerKey key) {
    Neighbour& n = scene_.peer(key);
    proto::State state;
    state.acknowledged = n.pipe.next_sequence() - 1 - n.pipe.queued();
    state.credit = state.acknowledged + random_.below(6);
    state.neighbours = key % 7 == 0 ? 2 : kServed;
    const std::uint32_t g = random_.below(kRelayed);
    if (n.holds.wants(g)) {
      const std::uint32_t rank = std::max(n.holds.rank(g), random_.below(kRows / 2));
      state.generations = {{g, rank, 0, {}}};
      state.generations[0].quota = random_.below(3) == 0 ? 0 : 30;
    }
    REQUIRE(n.apply_state(std::move(state)));
    relay_.told(n, scene_.now);
  }
  bool has_few(const Neighbour& n) const {
    return n.holds.connections() <
           policy::kFewNeighbours * static_cast<double>(std::max<std::size_t>(size_, 1));
  }
  bool has_something_for(const Neighbour& n) const {
    for (std::uint32_t g = 0; g < kRelayed; ++g) {
      const core::RemoteGeneration* known = n.holds.partial().find(g);
      if (!n.holds.wants(g)) continue;
      if (!known || (known->expected_rank() < kRows && !known->quota_used())) return true;
    }
    return false;
  }
  std::uint64_t turn_of(const Neighbour& n) const {
    const auto last = last_choice_.find(n.key);
    const std::uint64_t rank = std::max(n.expected_total_rank(), n.pipe.blocks_sent());
    std::uint64_t few = 0;
    for (const Neighbour& one : scene_.neighbours) few += has_few(one) ? 1 : 0;
    return rank * policy::kChoicesPerRowLarge + (last == last_choice_.end() ? 0 : last->second) +
           (has_few(n) ? 0 : few * policy::kChoicesForFew);
  }
  // As the line, by a look at all.
  core::PeerKey first_of(bool takers_too, const policy::Sockets& sockets) const {
    core::PeerKey best = core::kNoPeer;
    std::pair<bool, std::uint64_t> least;
    for (const Neighbour& n : scene_.neighbours) {
      if (!n.may_send() || !policy::can_take_block(n, sockets) || !has_something_for(n)) continue;
      const std::pair key{!takers_too && n.only_takes(scene_.now), turn_of(n)};
      if (best != core::kNoPeer && key >= least) continue;
      best = n.key;
      least = key;
    }
    return best;
  }
  Scene scene_;
  RelayPolicy relay_;
  codec::CoefficientStream random_;
  std::map<core::PeerKey, std::uint64_t> last_choice_;
  std::uint64_t choices_ = 0, walked_ = 0;
  std::size_t size_ = kServed;
};

}  // namespace

TEST_CASE("a finished relay that serves many chooses as by a look at all, and looks at few") {
  std::map<Served::Outcome, int> outcomes;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    Served served(seed);
    for (int i = 0; i < 1000; ++i) {
      served.happen();
      if (i % 2 == 0) ++outcomes[served.choose()];
    }
    CHECK(served.walked() < 30);
  }
  CHECK(outcomes[Served::Outcome::kNobody] > 0);
  CHECK(outcomes[Served::Outcome::kFirst] > 500);
  CHECK(outcomes[Served::Outcome::kOptimistic] > 0);
}

TEST_CASE("a relay's line has those behind, ahead or out that a choice wants there") {
  RelayLine line;
  using Where = RelayLine::Where;
  line.update(1, {.turn = 10, .where = Where::kIdle, .wants = true});
  line.update(2, {.turn = 20, .where = Where::kWaiting, .takes = true, .wants = true});
  line.update(3, {.turn = 5, .where = Where::kWaiting, .last = true, .wants = true});
  line.update(4, {.turn = 40, .where = Where::kIdle, .few = true, .wants = true, .needed = true});
  RelayLine::Terms terms{.idle_too = true};
  CHECK(line.first(terms) == 3);
  terms.last_behind = true;
  CHECK(line.first(terms) == 1);
  terms.few_ahead = 31;
  CHECK(line.first(terms) == 4);
  terms.idle_too = false;
  CHECK(line.first(terms) == 2);
  terms.takers_behind = true;
  CHECK(line.first(terms) == 3);
  line.park(3);
  CHECK(line.first(terms) == 2);
  line.park(2);
  CHECK(line.first(terms) == core::kNoPeer);
  CHECK(line.few() == 1);
  CHECK(line.anybody_wants());
  for (const core::PeerKey key : {1, 2, 4}) line.leaves(key);
  CHECK_FALSE(line.anybody_wants());
  CHECK(line.few() == 0);
  line.update(3, {.turn = 5, .where = Where::kWaiting, .last = true, .wants = true});
  CHECK(line.first(terms) == 3);
}

TEST_CASE("one that joins many does not come before all others until it has caught up") {
  Scene s(kRelayed, kRows, 6, true);
  for (core::PeerKey key = 1; key <= 5; ++key) s.tell(key, {}, {{0, 3}});
  RelayPolicy relay(1, 3);
  s.neighbours.erase(6);
  REQUIRE(s.choose(relay, false));
  auto late = std::make_unique<Neighbour>(9, peer_id(9), "192.0.2.1", std::uint16_t{1}, false, 0);
  late->holds.set_shape(s.holdings.shape());
  s.neighbours.add(std::move(late));
  s.tell(9, {});
  relay.told(s.peer(9), s.now);
  std::map<core::PeerKey, std::uint32_t> served;
  for (std::uint32_t i = 0; i < 2 * policy::kNewcomerLag; ++i) {
    const auto choice = s.choose(relay, false);
    REQUIRE(choice);
    ++served[choice->peer];
    s.send(*choice);
    relay.told(s.peer(choice->peer), s.now);
  }
  CHECK(served[9] >= policy::kNewcomerLag);
  CHECK(served[9] < 2 * policy::kNewcomerLag);  // as without a bound
}

TEST_CASE("a finished download with hundreds of neighbours walks over them next to never") {
  constexpr std::uint32_t kMany = policy::kFewToLookAt + 44;
  core::Options options = plain_options();
  options.neighbours_max = kMany;
  Fixture fixture(plain_manifest(8, 64, 16), options);
  core::StartState state;
  state.verified.assign(8, true);
  fixture.core.start(fixture.manifest, state, false, fixture.now);
  fixture.drain();
  REQUIRE(fixture.take<core::ContentComplete>().size() == 1);
  fixture.core.content_finished(fixture.now);
  fixture.drain();
  for (std::uint32_t i = 0; i < kMany; ++i) {
    fixture.connect_from("10.0." + std::to_string(i) + ".1", 100 + i, numbered(i));
    proto::Hello hello;
    hello.content_id = fixture.manifest.id;
    hello.has_manifest = true;
    fixture.say(100 + i, hello);
    fixture.say_state(100 + i, 0, 20);
  }
  std::set<PeerKey> served;
  std::size_t blocks = 0;
  const std::uint64_t walks = fixture.core.counters().walks;
  const TimeUs end = fixture.now + 2 * kSecond;
  for (; fixture.now < end && served.size() < kMany; fixture.now += kMillisecond) {
    for (const core::SendBlock& block : fixture.take<core::SendBlock>()) {
      ++blocks;
      served.insert(block.peer);
      fixture.core.blocks_departed(block.peer, 1, 100, fixture.now);
    }
    fixture.drain();
  }
  CHECK(served.size() == kMany);
  CHECK(blocks >= kMany);
  CHECK(fixture.core.counters().walks - walks < blocks / 20);
}
