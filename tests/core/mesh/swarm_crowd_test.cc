// Tables of neighbours and addresses that strangers try to fill.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "proto/base/limits.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Close;
using core::Connect;
using proto::Goodbye;
using proto::GoodbyeReason;

namespace {

constexpr std::uint32_t kPlaces = facts::kPlaces;

// An address in a prefix of its own.
std::string far_ip(std::uint32_t i) {
  return "10." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ".1";
}

void greet(Fixture& fixture, PeerKey peer) {
  proto::Hello hello;
  hello.content_id = fixture.manifest.id;
  hello.has_manifest = true;
  fixture.say(peer, hello);
}

// A seed whose places are all taken by peers of as many prefixes.
struct CrowdedSeed : Fixture {
  CrowdedSeed() : Fixture(plain_manifest(4, 4, 16)) {
    start(true);
    for (std::uint32_t i = 0; i < kPlaces; ++i) {
      connect_from(far_ip(i), 100 + i, numbered(i));
      greet(*this, 100 + i);
    }
    take<Close>();
  }
};

bool enters(Fixture& fixture, const std::string& ip, PeerKey peer, const PeerId& id) {
  fixture.connect_from(ip, peer, id);
  return fixture.heard<Goodbye>(peer).empty();
}

}  // namespace

TEST_CASE("figures for a progress bar cost no look at the neighbours") {
  CrowdedSeed fixture;
  const std::uint64_t walks = fixture.core.counters().walks;
  const core::Report totals = fixture.core.report(core::ReportOn::kTotals);
  CHECK(fixture.core.counters().walks == walks);
  CHECK(totals.neighbours.empty());
  const core::Report report = fixture.core.report();
  CHECK(fixture.core.counters().walks > walks);
  CHECK(report.neighbours.size() == kPlaces);
  CHECK(totals.peers == kPlaces);
  CHECK(totals.rank == report.rank);
  CHECK(totals.generations_verified == 4);
  CHECK(totals.complete);
}

TEST_CASE("neighbours that do nothing make room within seconds where others wait") {
  CrowdedSeed fixture;
  CHECK_FALSE(enters(fixture, far_ip(1000), 1, peer_id(0x70)));
  fixture.pass(facts::kIdleWithoutNeed);
  for (PeerKey peer = 2; peer < 22; ++peer) {
    CHECK(enters(fixture, far_ip(1000 + static_cast<std::uint32_t>(peer)), peer,
                 peer_id(0x70, static_cast<std::uint8_t>(peer))));
  }
  CHECK(fixture.core.report().peers == kPlaces);
}

TEST_CASE("addresses that idled their places away get none so again for a while") {
  CrowdedSeed fixture;
  fixture.pass(facts::kIdleWithoutNeed);
  std::set<PeerKey> gone;
  for (PeerKey peer = 2; peer < 12; ++peer) {
    REQUIRE(enters(fixture, far_ip(1000 + static_cast<std::uint32_t>(peer)), peer,
                   peer_id(0x70, static_cast<std::uint8_t>(peer))));
  }
  for (const Close& close : fixture.take<Close>()) gone.insert(close.peer);
  REQUIRE(gone.size() == 10);
  PeerKey next = 500;
  for (const PeerKey one : gone) {
    const auto i = static_cast<std::uint32_t>(one - 100);
    CHECK_FALSE(enters(fixture, far_ip(i), next++, numbered(i)));
  }
  CHECK(enters(fixture, far_ip(2000), next++, peer_id(0x71)));
  fixture.pass(facts::kIdledAway);
  CHECK(enters(fixture, far_ip(static_cast<std::uint32_t>(*gone.begin() - 100)), next++,
               peer_id(0x72)));
}

TEST_CASE("a neighbour that waits for a slow uplink keeps its place") {
  CrowdedSeed fixture;
  for (std::uint32_t i = 0; i < kPlaces; ++i) fixture.say_state(100 + i, 0, 4);
  fixture.pass(facts::kIdleWithoutNeed + kSecond);  // no block departs
  CHECK_FALSE(enters(fixture, far_ip(1000), 1, peer_id(0x70)));
  SUBCASE("but not one that wants nothing any more") {
    fixture.say_state(100, 0, 4, {{0, 0, 0, {}}, {1, 0, 0, {}}, {2, 0, 0, {}}, {3, 0, 0, {}}});
  }
  SUBCASE("and not for ever") {
    fixture.pass(facts::kIdle);
  }
  CHECK(enters(fixture, far_ip(1001), 2, peer_id(0x71)));
}

TEST_CASE("a prefix has no more than its share of the places against others") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  for (std::uint32_t i = 0; i < kPlaces; ++i) {
    fixture.connect_from("192.0.2." + std::to_string(i), 100 + i, numbered(i));
  }
  fixture.take<Close>();
  CHECK_FALSE(enters(fixture, "192.0.2.200", 1, peer_id(0x70)));  // all of the prefix have one
  std::uint32_t entered = 0;
  for (PeerKey peer = 2; peer < 2 + kPlaces; ++peer) {
    entered += enters(fixture, far_ip(static_cast<std::uint32_t>(peer)), peer,
                      peer_id(0x71, static_cast<std::uint8_t>(peer)));
  }
  CHECK(entered == kPlaces - 1);
}

namespace {

// An address that does not answer is named for so long, and called so often at most.
constexpr TimeUs kToldSeconds = 41;
const TimeUs kCallsInVainMax = facts::vain_calls_in(kToldSeconds * kSecond);

}  // namespace

TEST_CASE("gossip about one address makes few calls there") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  fixture.open(1, peer_id(1));
  std::uint32_t calls = 0, told = 0;
  const TimeUs end = fixture.now + kToldSeconds * kSecond;
  while (fixture.now < end) {
    proto::PeerExchange exchange;
    for (int i = 0; i < 64; ++i, ++told) {
      exchange.peers.push_back(
          {numbered(told % 40'000), "198.51.100.7", static_cast<std::uint16_t>(1 + told % 60'000)});
    }
    fixture.say(1, exchange);
    for (const Connect& call : fixture.take<Connect>()) {
      ++calls;
      fixture.core.connect_failed(call.attempt, {ErrorCode::kUnreachable, "connect", "refused"},
                                  fixture.now);
    }
    fixture.drain();
    fixture.pass(100 * kMillisecond);
  }
  CHECK(calls >= facts::kVainCalls);
  CHECK(calls <= kCallsInVainMax);
}

namespace {

// Calls of a peer by address, all in vain, where a tracker names what `victim` makes of 0, 1, 2 ...
// again and again.
template <typename Victim>
std::map<std::string, std::uint32_t> calls_told_by_tracker(Victim victim) {
  core::Options options = plain_options();
  options.trackers = {Address{std::nullopt, "tracker", 1}};
  Fixture fixture(plain_manifest(2, 4, 16), options);
  fixture.start();
  std::map<std::string, std::uint32_t> calls;
  for (std::uint32_t turn = 0, told = 0; turn < kToldSeconds; ++turn) {
    proto::AnnounceReply reply;
    for (std::size_t i = 0; i < limits::kAnnouncePeersMax; ++i, ++told) {
      reply.peers.push_back(victim(told));
    }
    fixture.core.tracker_replied(0, reply, fixture.now);
    fixture.drain();
    for (auto some = fixture.take<Connect>(); !some.empty(); some = fixture.take<Connect>()) {
      for (const Connect& call : some) {
        ++calls[call.address.host];
        fixture.core.connect_failed(call.attempt, {ErrorCode::kUnreachable, "connect", "refused"},
                                    fixture.now);
        fixture.drain();
      }
    }
    fixture.pass(kSecond);
  }
  return calls;
}

}  // namespace

TEST_CASE("a tracker that names one address many times has few calls made there") {
  const auto calls = calls_told_by_tracker([](std::uint32_t i) {
    return proto::PeerEndpoint{numbered(i % 40'000), "198.51.100.7",
                               static_cast<std::uint16_t>(1 + i % 60'000)};
  });
  REQUIRE(calls.size() == 1);
  CHECK(calls.begin()->second >= facts::kVainCalls);
  CHECK(calls.begin()->second <= kCallsInVainMax);
}

namespace {

TimeUs sum_of(const std::map<std::string, std::uint32_t>& calls) {
  TimeUs all = 0;
  for (const auto& [host, count] : calls) all += count;
  return all;
}

}  // namespace

TEST_CASE("a tracker that names a whole prefix has few calls made there, and to no address many") {
  const auto calls = calls_told_by_tracker([](std::uint32_t i) {
    return proto::PeerEndpoint{numbered(i % 40'000), "198.51.100." + std::to_string(1 + i % 254),
                               static_cast<std::uint16_t>(1 + i % 60'000)};
  });
  for (const auto& of_host : calls) {
    CAPTURE(of_host.first);
    CHECK(of_host.second <= kCallsInVainMax);
  }
  const TimeUs all = sum_of(calls);
  CHECK(all >= facts::kVainCallsToPrefix);
  CHECK(all <= facts::vain_calls_to_prefix_in(kToldSeconds * kSecond));
}

// One party can have every address of a /64.
TEST_CASE("a tracker that names addresses of one IPv6 network has few calls made there") {
  const TimeUs all = sum_of(calls_told_by_tracker([](std::uint32_t i) {
    return proto::PeerEndpoint{
        numbered(i % 40'000),
        "2001:db8::" + std::to_string(i / 9000) + ":" + std::to_string(1 + i % 9000), 7};
  }));
  CHECK(all >= facts::kVainCalls);
  CHECK(all <= kCallsInVainMax);
}

TEST_CASE("a peer that starves among silent neighbours calls all others within a minute") {
  core::Options options = plain_options();
  options.trackers = {Address{std::nullopt, "tracker", 1}};
  Fixture fixture(plain_manifest(4, 4, 16), options);
  fixture.start();
  proto::AnnounceReply reply;
  reply.interval_seconds = 3600;
  reply.incomplete_count = 200;
  for (std::uint32_t i = 0; i < 200; ++i) reply.peers.push_back({numbered(i), far_ip(i), 7000});
  fixture.core.tracker_replied(0, reply, fixture.now);
  fixture.drain();
  std::set<std::string> called;
  std::size_t most = 0;
  PeerKey peer = 100;
  const auto answer_calls = [&] {
    for (auto calls = fixture.take<Connect>(); !calls.empty(); calls = fixture.take<Connect>()) {
      for (const Connect& call : calls) {
        called.insert(call.address.host);
        fixture.core.peer_opened(++peer, *call.address.id, call.address.host, 7000, call.attempt,
                                 fixture.now);
        fixture.drain();
        greet(fixture, peer);
        fixture.say_state(peer, 0, 4, {}, {{0, 4}});
      }
    }
    most = std::max<std::size_t>(most, fixture.core.report().peers);
  };
  answer_calls();
  CHECK(called.size() <= facts::kWanted);
  for (int i = 0; i < 600 && called.size() < 200; ++i) {
    fixture.pass(100 * kMillisecond);
    answer_calls();
  }
  CHECK(called.size() == 200);
  CHECK(most <= kPlaces);
  // When all have been tried it rests: no peer is called again and again.
  fixture.take<Close>();
  fixture.pass(60 * kSecond);
  CHECK(fixture.take<Close>().size() < 10);
}

namespace {

using facts::kOwnCalls;

// A peer of a large swarm whose tracker names honest peers, and which strangers call first.
struct CalledByMany : Fixture {
  explicit CalledByMany(std::uint32_t callers) : Fixture(plain_manifest(100, 4, 16), options()) {
    start();
    for (std::uint32_t i = 0; i < callers; ++i) call_in(i);
    take<Close>();
  }

  static core::Options options() {
    core::Options options = plain_options();
    options.trackers = {Address{std::nullopt, "tracker", 1}};
    return options;
  }

  bool call_in(std::uint32_t i) {
    const bool came = enters(*this, far_ip(i), 100 + i, numbered(i));
    if (came) greet(*this, 100 + i);
    return came;
  }

  // `prefix`: empty: each is in one of its own.
  void hear_of(std::uint32_t honest, const std::string& prefix = {}) {
    proto::AnnounceReply reply;
    reply.interval_seconds = 3600;
    reply.incomplete_count = 200;
    for (std::uint32_t i = 0; i < honest; ++i)
      reply.peers.push_back({numbered(5000 + i),
                             prefix.empty() ? far_ip(5000 + i) : prefix + std::to_string(i), 7000});
    core.tracker_replied(0, reply, now);
    drain();
  }

  // Somebody sends something new now and then, so that this peer does not starve.
  void pass_fed(TimeUs time) {
    for (TimeUs passed = 0; passed < time; passed += kSecond) {
      REQUIRE(fed_ < 400);
      say(100, block(fed_ / 4, fed_ + 1, fed_ % 4));
      ++fed_;
      pass(std::min(kSecond, time - passed));
    }
  }

  PeerKey answer(const Connect& call) {
    const PeerKey peer = next_++;
    core.peer_opened(peer, *call.address.id, call.address.host, 7000, call.attempt, now);
    drain();
    greet(*this, peer);
    return peer;
  }

 private:
  PeerKey next_ = 10'000;
  std::uint32_t fed_ = 0;
};

}  // namespace

TEST_CASE("a peer that many call still chooses some neighbours itself") {
  CalledByMany fixture(facts::kWanted + 4);
  CHECK(fixture.take<Connect>().empty());
  fixture.hear_of(50);
  PeerKey own = 0;
  for (std::size_t i = 0; i < kOwnCalls; ++i) {
    const auto calls = fixture.take<Connect>();  // one at a time
    REQUIRE(calls.size() == 1);
    own = fixture.answer(calls[0]);
    fixture.pass_fed(facts::kNextOwnCall);
  }
  CHECK(fixture.take<Connect>().empty());
  fixture.core.peer_closed(own, fixture.now);
  fixture.drain();
  CHECK(fixture.take<Connect>().size() == 1);
}

TEST_CASE("callers leave places for those that a peer chooses itself, where it knows of any") {
  CalledByMany fixture(kPlaces - kOwnCalls);
  SUBCASE("nobody is known") {
    for (std::uint32_t i = 0; i < kOwnCalls; ++i) CHECK(fixture.call_in(1000 + i));
    CHECK_FALSE(fixture.call_in(2000));
  }
  SUBCASE("one is known") {
    fixture.hear_of(1);
    for (std::uint32_t i = 0; i + 1 < kOwnCalls; ++i) CHECK(fixture.call_in(1000 + i));
    CHECK_FALSE(fixture.call_in(2000));
  }
  SUBCASE("many are known") {
    fixture.hear_of(50);
    CHECK_FALSE(fixture.call_in(1000));
    for (std::size_t i = 0; i < kOwnCalls; ++i) {
      for (const Connect& call : fixture.take<Connect>()) fixture.answer(call);
      fixture.pass_fed(facts::kNextOwnCall);
    }
    CHECK(fixture.heard<Goodbye>(10'000).empty());
    CHECK(fixture.core.report().peers == kPlaces);
    CHECK(fixture.take<Close>().size() == 1);  // that caller
  }
}

TEST_CASE(
    "in a full house a caller gives way to a peer that was called, once that has said Hello") {
  CalledByMany fixture(kPlaces);
  REQUIRE(fixture.core.report().peers == kPlaces);
  fixture.pass_fed(facts::kIdleWithoutNeed);  // newcomers are spared
  fixture.hear_of(50);
  std::set<PeerKey> own;
  for (std::size_t i = 0; i < kOwnCalls; ++i) {
    const auto calls = fixture.take<Connect>();
    REQUIRE(calls.size() == 1);
    own.insert(fixture.answer(calls[0]));
    const auto closed = fixture.take<Close>();
    REQUIRE(closed.size() == 1);
    CHECK_FALSE(own.contains(closed[0].peer));
    CHECK(closed[0].peer != 100);  // which has sent something
    CHECK(fixture.core.report().peers == kPlaces);
    fixture.pass_fed(facts::kNextOwnCall);
  }
  CHECK(fixture.take<Connect>().empty());
}

TEST_CASE("nobody gives way to a called peer that has no place for us") {
  CalledByMany fixture(kPlaces);
  fixture.hear_of(50);
  const auto calls = fixture.take<Connect>();
  REQUIRE(calls.size() == 1);
  fixture.core.peer_opened(7000, *calls[0].address.id, calls[0].address.host, 7000,
                           calls[0].attempt, fixture.now);
  fixture.say(7000, Goodbye{GoodbyeReason::kTooManyPeers, ""});
  CHECK(fixture.core.report().peers == kPlaces);
  const auto closed = fixture.take<Close>();
  REQUIRE(closed.size() == 1);
  CHECK(closed[0].peer == 7000);
  CHECK(fixture.take<Connect>().empty());
  fixture.pass_fed(facts::kNextOwnCall);
  CHECK(fixture.take<Connect>().size() == 1);  // another is tried
}

TEST_CASE("callers do not displace the few neighbours that a peer has chosen itself") {
  CalledByMany fixture(0);
  fixture.hear_of(kOwnCalls, "192.0.2.");
  std::vector<PeerKey> own;
  for (const Connect& call : fixture.take<Connect>()) own.push_back(fixture.answer(call));
  REQUIRE(own.size() == kOwnCalls);
  // Theirs is the prefix with most places, and each caller is of another.
  for (std::uint32_t i = 0; i < kPlaces; ++i) fixture.call_in(i);
  CHECK(fixture.core.report().peers == kPlaces);
  for (const PeerKey peer : own) CHECK(fixture.heard<Goodbye>(peer).empty());
}

TEST_CASE("a finished download with hundreds of neighbours walks over them next to never") {
  constexpr std::uint32_t kMany = facts::kManyNeighbours;
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
