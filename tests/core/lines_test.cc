// Structures kept in order give what a look at every neighbour gives, whatever happens to them.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "client/core/neighbour/agenda.h"
#include "client/core/receive/promises.h"
#include "client/core/send/socket_line.h"
#include "client/core/send/source/source_line.h"
#include "codec/random.h"
#include "tests/core/receive/promised.h"
#include "tests/core/send/choice/scene.h"

using namespace firn;
using namespace firn::test;
using core::Agenda;
using core::SocketLine;
using core::policy::SourceLine;
using core::policy::UplinkClaims;

namespace {

constexpr std::uint32_t kPeers = 20;
constexpr TimeUs kPatience = 30 * core::kMillisecond;

// Neighbours of a source to which things happen by chance.
class Crowd {
 public:
  explicit Crowd(std::uint64_t seed) : scene_(4, 16, kPeers, true), random_(seed, 1) {
    for (core::PeerKey key = 1; key <= kPeers; ++key) sequence_.push_back(0);
  }
  // What happens next, and to whom; the neighbour may have left before that.
  Neighbour& next() {
    scene_.now += random_.below(20) * core::kMillisecond;
    const core::PeerKey key = 1 + random_.below(kPeers);
    Neighbour& n = scene_.peer(key);
    switch (random_.below(6)) {
      case 0:
      case 1:
        n.book_block(random_.below(4), scene_.now);
        break;
      case 2:
      case 3:
        n.block_departed(kBlockBytes, scene_.now);
        break;
      case 4:
        n.worth = random_.below(2) == 0 ? 1 : 1.0 / (1 + random_.below(64));
        break;
      case 5:
        say(key);
        break;
    }
    return n;
  }
  TimeUs now() const { return scene_.now; }
  Neighbours& neighbours() { return scene_.neighbours; }

 private:
  void say(core::PeerKey key) {
    proto::State state;
    state.credit = sequence_[key - 1] += random_.below(3);
    state.upload_kib = random_.below(3) * 100;
    if (random_.below(8) == 0) state.complete = {{0, 1 + random_.below(4)}};
    REQUIRE(scene_.peer(key).apply_state(std::move(state)));
  }
  Scene scene_;
  codec::CoefficientStream random_;
  std::vector<std::uint32_t> sequence_;
};

// As SourceLine::first, by a look at all.
core::PeerKey first_of(const Neighbours& neighbours, const std::set<core::PeerKey>& rushed,
                       bool low_worth, bool idle_too, double usual, TimeUs now) {
  core::PeerKey best = core::kNoPeer;
  double least = 0;
  for (const Neighbour& n : neighbours) {
    if (!n.may_send() || n.holds.satisfied() || n.low_worth() != low_worth) continue;
    const bool rush = rushed.contains(n.key);
    const bool waits = rush && n.pipe.queued() > 0 && n.pipe.queued() < core::policy::kUrgentDepth;
    if (!waits && core::policy::why_no_room(n, {0, idle_too ? 1u : 0u})) continue;
    double weight = n.worth * (rush ? core::policy::kUrgentWeight : 1);
    if (n.holds.upload_kib() > 0 && usual > 0) weight *= n.holds.upload_kib() / usual;
    const double served = n.pipe.served_rate(now) / weight;
    if (best != core::kNoPeer && served >= least) continue;
    best = n.key;
    least = served;
  }
  return best;
}

}  // namespace

TEST_CASE("a source's line has first who was served least for what its rows are worth") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Crowd crowd(seed);
    SourceLine line;
    // They read now and then what nobody has: in a rush that counts.
    const SourceLine::Circumstances terms{false, 100, seed % 2 == 0};
    codec::CoefficientStream random(seed, 3);
    std::set<core::PeerKey> urgent;
    for (const Neighbour& n : std::as_const(crowd.neighbours())) line.update(n, terms, false);
    for (int i = 0; i < 500; ++i) {
      const Neighbour& n = crowd.next();
      random.below(4) == 0 ? void(urgent.insert(n.key)) : void(urgent.erase(n.key));
      line.update(n, terms, urgent.contains(n.key));
      std::size_t wanting_all = 0;
      for (const bool low_worth : {false, true}) {
        for (const bool idle_too : {false, true}) {
          const auto rushed = terms.rush ? urgent : std::set<core::PeerKey>{};
          REQUIRE(line.first(low_worth, idle_too) ==
                  first_of(crowd.neighbours(), rushed, low_worth, idle_too, 100, crowd.now()));
        }
        const auto wanting = std::count_if(
            crowd.neighbours().begin(), crowd.neighbours().end(), [&](const Neighbour& n) {
              return n.may_send() && !n.holds.satisfied() && n.low_worth() == low_worth;
            });
        wanting_all += static_cast<std::size_t>(wanting);
        REQUIRE(line.anybody_wants(low_worth) == (wanting > 0));
      }
      const auto hurrying = static_cast<std::size_t>(std::count_if(
          crowd.neighbours().begin(), crowd.neighbours().end(), [&](const Neighbour& one) {
            const bool wants = one.may_send() && !one.holds.satisfied();
            return urgent.contains(one.key) && (wants || one.pipe.queued() > 0);
          }));
      REQUIRE(line.some_hurry() == (hurrying > 0 && 2 * hurrying <= wanting_all));
    }
  }
}

TEST_CASE("who announces next to no uplink is served less than others, but served") {
  Scene s(4, 4, 2, true);
  const std::uint32_t usual = 1 << 20;
  for (const core::PeerKey key : {1u, 2u}) {
    proto::State state;
    const std::uint32_t blocks = key == 1 ? 1 : 10'000;
    state.credit = blocks + 1;
    state.upload_kib = key == 1 ? 1 : usual;
    REQUIRE(s.peer(key).apply_state(std::move(state)));
    for (std::uint32_t i = 0; i < blocks; ++i) {
      s.peer(key).book_block(0, s.now);
      s.peer(key).block_departed(kBlockBytes, s.now);
    }
  }
  SourceLine line;
  for (const Neighbour& n : std::as_const(s.neighbours)) line.update(n, {true, usual}, false);
  // The other has had ten thousand times as much, and announces a million times as much.
  CHECK(line.first(false, true) == 1);
}

TEST_CASE("in a rush more blocks may wait in the socket of who awaits something, and of no other") {
  for (const bool rush : {false, true}) {
    for (const bool urgent : {false, true}) {
      Scene s(4, 4, 1, true);
      SourceLine line;
      std::uint32_t waiting = 0;
      for (;; ++waiting) {
        line.update(s.peer(1), {.rush = rush}, urgent);
        if (line.first(false, true) == core::kNoPeer) break;
        s.peer(1).book_block(0, s.now);
      }
      CHECK(waiting == (rush && urgent ? core::policy::kUrgentDepth : s.peer(1).pipe.depth()));
    }
  }
}

TEST_CASE("a neighbour without anything to take is passed over until it is told of again") {
  Scene s(4, 4, 2, true);
  SourceLine line;
  const SourceLine::Circumstances terms;
  for (const Neighbour& n : std::as_const(s.neighbours)) line.update(n, terms, false);
  REQUIRE(line.first(false, true) == 1);
  line.park(1);
  CHECK(line.first(false, true) == 2);
  CHECK(line.anybody_wants(false));
  line.park(2);
  CHECK(line.first(false, true) == core::kNoPeer);
  line.update(s.peer(2), terms, false);
  CHECK(line.first(false, true) == 2);
  for (const core::PeerKey key : line.take_parked()) line.update(s.peer(key), terms, false);
  CHECK(line.first(false, true) == 1);
  CHECK(line.take_parked().empty());
  line.update(s.peer(2), terms, true);
  CHECK(line.some_hurry());
  line.neighbour_left(1);
  line.neighbour_left(2);
  CHECK(line.first(false, true) == core::kNoPeer);
  CHECK_FALSE(line.anybody_wants(false));
  CHECK_FALSE(line.some_hurry());
}

TEST_CASE("what waits in sockets is counted as by a look at all of them") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Crowd crowd(seed);
    SocketLine line;
    line.set_patience(kPatience);
    for (int i = 0; i < 500; ++i) {
      line.update(crowd.next());
      std::uint32_t busy = 0;
      bool stuck = false;
      TimeUs next = core::kNever;
      for (const Neighbour& n : std::as_const(crowd.neighbours())) {
        if (n.pipe.queued() == 0) continue;
        const TimeUs at = n.pipe.waiting_since() + kPatience;
        stuck |= at <= crowd.now();
        busy += at > crowd.now() ? 1 : 0;
        if (at > crowd.now()) next = std::min(next, at);
        REQUIRE(line.stuck(n, crowd.now()) == (at <= crowd.now()));
      }
      REQUIRE(line.busy(crowd.now(), 3) == std::min(busy, 3u));
      REQUIRE(line.busy(crowd.now(), kPeers) == busy);
      REQUIRE(line.any_stuck(crowd.now()) == stuck);
      REQUIRE(line.next_stuck(crowd.now()) == next);
    }
  }
}

TEST_CASE("what was promised is summed up as by a look at all, also while neighbours stall") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Scene s(4, 16, kPeers, false);
    codec::CoefficientStream random(seed, 2);
    core::Promises promises;
    std::uint64_t most = 0, stalled = 0;
    for (int i = 0; i < 1000; ++i) {
      s.now += random.below(400) * core::kMillisecond;
      const core::PeerKey key = 1 + random.below(kPeers);
      Neighbour* n = s.neighbours.find(key);
      if (!n) continue;
      const std::uint32_t number = n->grants.credit() - n->grants.outstanding() + 1;
      if (random.below(200) == 0) {
        promises.neighbour_left(key);
        s.neighbours.erase(key);
      } else if (random.below(2) == 0) {
        n->grants.grant(1 + random.below(3), s.now);
        promises.update(*n, s.now);
      } else if (n->grants.outstanding() > 0) {
        REQUIRE(n->book_arrival(number, kBlockBytes, s.now));
        n->traffic.usefulness().block(random.below(4) > 0, s.now);
        promises.update(*n, s.now);
      }
      const std::uint64_t sum = promised_blocks(s.neighbours, s.now);
      REQUIRE(promises.sum(s.now) == sum);
      most = std::max(most, sum);
      for (const Neighbour& one : std::as_const(s.neighbours)) stalled += one.grants.stalled(s.now);
    }
    CHECK(most > 0);
    CHECK(stalled > 0);
  }
}

TEST_CASE("the usual uplink is the median of what those that download say") {
  Crowd crowd(7);
  UplinkClaims claims;
  for (int i = 0; i < 2000; ++i) {
    claims.update(crowd.next());
    std::vector<std::uint32_t> said;
    for (const Neighbour& n : std::as_const(crowd.neighbours())) {
      if (!n.holds.has_everything() && n.holds.upload_kib() > 0)
        said.push_back(n.holds.upload_kib());
    }
    std::sort(said.begin(), said.end());
    REQUIRE(claims.usual() == (said.empty() ? 0 : said[said.size() / 2]));
  }
  for (core::PeerKey key = 1; key <= kPeers; ++key) claims.neighbour_left(key);
  CHECK(claims.usual() == 0);
}

TEST_CASE("an agenda gives each neighbour once when its time has come, and forgets what changed") {
  Agenda agenda;
  agenda.note(30, 3);
  agenda.note(10, 2);
  agenda.note(10, 1);
  agenda.note(5, 2);
  agenda.touch(4);
  CHECK(agenda.take_due(10) == std::vector<core::PeerKey>{1, 2, 4});
  CHECK(agenda.take_due(10).empty());
  const auto all = [](const Agenda::Entry&) { return true; };
  CHECK(agenda.first(all) == 30);
  agenda.note(20, 3);
  const auto only_late = [](const Agenda::Entry& entry) { return entry.first == 30; };
  CHECK(agenda.first(only_late) == 30);
  CHECK(agenda.take_due(30) == std::vector<core::PeerKey>{3});
  CHECK(agenda.first(all) == core::kNever);
  // What does not hold any more takes no memory for long: entries that hold are found among many.
  for (TimeUs at = 1; at <= 1000; ++at) {
    agenda.note(at, 1);
    REQUIRE(agenda.first([at](const Agenda::Entry& entry) { return entry.first == at; }) == at);
  }
  CHECK(agenda.take_due(999).empty());
}
