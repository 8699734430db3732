#include "tracker/announce_core.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "proto/base/limits.h"
#include "tests/tracker/tracker_fixture.h"
#include "tracker/registry_memory.h"

namespace firn::tracker::test {
namespace {

using namespace std::chrono_literals;
using proto::Announce;
using proto::AnnounceEvent;
using proto::AnnounceReply;
using proto::TrackerError;
using proto::TrackerErrorCode;

// A core with peers that connect from addresses of their own; client and peer numbers are the same.
struct Tracker {
  explicit Tracker(const CoreOptions& options = {}, const RegistryLimits& limits = {})
      : registry(limits), core(registry, options, 1) {}

  // If it is not.
  void connect(std::uint32_t number, const std::string& ip) {
    if (connected.insert(number).second) core.connected(number, peer_id(number), ip, now);
  }
  proto::TrackerReply ask(std::uint32_t number, Announce request) {
    connect(number, peer(number).endpoint.ip);
    if (request.listen_port == 0) request.listen_port = peer(number).endpoint.port;
    return core.handle(number, request, now);
  }
  AnnounceReply announce(std::uint32_t number, bool complete = false,
                         AnnounceEvent event = AnnounceEvent::kPeriodic) {
    return std::get<AnnounceReply>(
        ask(number, {.content_id = content(1), .event = event, .complete = complete}));
  }
  void pass(Time time) {
    now += time;
    core.tick(now);
  }

  MemoryRegistry registry;
  AnnounceCore core;
  std::set<std::uint32_t> connected;
  Time now{1'000'000};
};

std::set<PeerId> ids(const AnnounceReply& reply) {
  std::set<PeerId> result;
  for (const auto& endpoint : reply.peers) result.insert(endpoint.id);
  return result;
}

TEST_CASE("a peer learns of the others at their observed address and announced port") {
  Tracker tracker;
  const AnnounceReply first = tracker.announce(1);
  CHECK(first.peers.empty());
  CHECK(first.incomplete_count == 1);
  CHECK(first.complete_count == 0);
  CHECK(first.interval_seconds == 60);
  const AnnounceReply second = tracker.announce(2, true);
  CHECK(second.peers == std::vector{peer(1).endpoint});
  CHECK(second.incomplete_count == 1);
  CHECK(second.complete_count == 1);
  CHECK(tracker.announce(1).peers == std::vector{peer(2).endpoint});
}

TEST_CASE("a snapshot says what incomplete peers have on average, as they said last") {
  Tracker tracker;
  const auto announce = [&](std::uint32_t number, std::uint8_t lacks, bool complete = false) {
    tracker.ask(number, {.content_id = content(1), .complete = complete, .lacks_percent = lacks});
    return tracker.core.snapshot().largest.at(0).percent;
  };
  CHECK(announce(1, 0) == std::nullopt);  // a program from before
  CHECK(announce(2, 100) == 0);
  CHECK(announce(3, 60) == 20);
  CHECK(announce(2, 11) == 64);        // has moved on
  CHECK(announce(4, 50, true) == 64);  // lacks nothing, whatever it says
  CHECK(announce(3, 0, true) == 89);
  CHECK(announce(2, 0) == std::nullopt);
  announce(5, 25);
  tracker.announce(5, false, AnnounceEvent::kStopped);
  CHECK(tracker.core.snapshot().largest.at(0).percent == std::nullopt);
  CHECK(tracker.core.snapshot().interval == std::chrono::seconds(60));
}

TEST_CASE("swarms of different contents do not mix") {
  Tracker tracker;
  tracker.announce(1);
  const auto other =
      std::get<AnnounceReply>(tracker.ask(2, {.content_id = content(2), .complete = true}));
  CHECK(other.peers.empty());
  CHECK(other.incomplete_count == 0);
}

TEST_CASE("two peers behind one address are two peers") {
  Tracker tracker;
  const std::string ip = "192.0.2.7";
  for (std::uint32_t number : {1, 2}) {
    tracker.connect(number, ip);
    tracker.announce(number);
  }
  const AnnounceReply reply = tracker.announce(3);
  CHECK(reply.incomplete_count == 3);
  REQUIRE(reply.peers.size() == 2);
  CHECK(reply.peers[0].ip == ip);
  CHECK(reply.peers[1].ip == ip);
  CHECK(reply.peers[0].port != reply.peers[1].port);
  CHECK(ids(reply) == std::set{peer_id(1), peer_id(2)});
}

TEST_CASE("one peer on two connections is one peer, and never told of itself") {
  Tracker tracker;
  tracker.announce(1);
  tracker.core.connected(100, peer_id(1), "192.0.2.1", tracker.now);
  const auto reply = std::get<AnnounceReply>(
      tracker.core.handle(100, Announce{.content_id = content(1), .listen_port = 9}, tracker.now));
  CHECK(reply.peers.empty());
  CHECK(reply.incomplete_count == 1);
  // The address is the one seen last.
  const AnnounceReply other = tracker.announce(2);
  CHECK(other.peers == std::vector{proto::PeerEndpoint{peer_id(1), "192.0.2.1", 9}});
}

TEST_CASE("a peer that listens nowhere counts but is not handed out") {
  Tracker tracker;
  tracker.connect(1, "192.0.2.1");
  (void)tracker.core.handle(1, Announce{.content_id = content(1), .listen_port = 0}, tracker.now);
  const AnnounceReply reply = tracker.announce(2);
  CHECK(reply.peers.empty());
  CHECK(reply.incomplete_count == 2);
}

TEST_CASE("complete peers are not handed to complete peers") {
  Tracker tracker;
  tracker.announce(1, true);
  tracker.announce(2, true);
  tracker.announce(3);
  CHECK(ids(tracker.announce(1, true)) == std::set{peer_id(3)});
  CHECK(ids(tracker.announce(3)) == std::set{peer_id(1), peer_id(2)});
  // COMPLETED says as much as `complete`.
  const AnnounceReply done = tracker.announce(3, false, AnnounceEvent::kCompleted);
  CHECK(done.peers.empty());
  CHECK(done.complete_count == 3);
  CHECK(done.incomplete_count == 0);
}

TEST_CASE("a complete peer that lost something counts as incomplete again") {
  Tracker tracker;
  tracker.announce(1, true);
  const AnnounceReply reply = tracker.announce(1, false);
  CHECK(reply.complete_count == 0);
  CHECK(reply.incomplete_count == 1);
}

TEST_CASE("a peer that stops is forgotten at once and gets no peers") {
  Tracker tracker;
  tracker.announce(1);
  tracker.announce(2);
  const AnnounceReply reply = tracker.announce(1, false, AnnounceEvent::kStopped);
  CHECK(reply.peers.empty());
  CHECK(reply.incomplete_count == 1);
  CHECK(tracker.announce(2).peers.empty());
  // Stopping twice, or what never started, changes nothing.
  CHECK(tracker.announce(1, false, AnnounceEvent::kStopped).incomplete_count == 1);
}

TEST_CASE("a silent peer is forgotten after its time, one that announces stays") {
  Tracker tracker;
  tracker.announce(1);
  tracker.announce(2);
  tracker.pass(100s);
  tracker.announce(2);
  tracker.pass(50s);  // 150 s since peer 1: on the edge it still lives
  CHECK(tracker.announce(3).incomplete_count == 3);
  tracker.pass(1s);
  CHECK(ids(tracker.announce(3)) == std::set{peer_id(2)});
  tracker.pass(200s);
  CHECK(tracker.registry.counts(content(1)) == SwarmCounts{});
}

TEST_CASE("a disconnect does not end membership: the peer may only have closed the connection") {
  Tracker tracker;
  tracker.announce(1);
  tracker.core.disconnected(1);
  CHECK(ids(tracker.announce(2)) == std::set{peer_id(1)});
}

TEST_CASE("a reply holds as many peers as wanted, and never more than the protocol allows") {
  Tracker tracker;
  for (std::uint32_t number = 1; number <= 300; ++number) tracker.announce(number);
  const auto wanting = [&](std::uint32_t count) {
    const auto reply =
        std::get<AnnounceReply>(tracker.ask(1, {.content_id = content(1), .peers_wanted = count}));
    CHECK(ids(reply).size() == reply.peers.size());  // no one twice
    CHECK_FALSE(ids(reply).contains(peer_id(1)));
    return reply.peers.size();
  };
  CHECK(wanting(0) == 0);
  CHECK(wanting(7) == 7);
  CHECK(wanting(100'000) == limits::kAnnouncePeersMax);
}

TEST_CASE("samples are random and fair") {
  Tracker tracker;
  constexpr int kPeers = 40;
  constexpr int kRounds = 4000;
  for (std::uint32_t number = 1; number <= kPeers; ++number) tracker.announce(number, number > 20);
  std::map<PeerId, int> seen;
  std::set<std::vector<PeerId>> orders;
  for (int round = 0; round < kRounds; ++round) {
    tracker.now += 10ms;
    const auto reply =
        std::get<AnnounceReply>(tracker.ask(1, {.content_id = content(1), .peers_wanted = 5}));
    for (const auto& endpoint : reply.peers) ++seen[endpoint.id];
  }
  REQUIRE(seen.size() == kPeers - 1);
  // Expected 512 each, standard deviation about 21.
  for (const auto& [id, count] : seen) {
    CHECK(count > 400);
    CHECK(count < 630);
  }
}

TEST_CASE("the same seed and requests give the same replies") {
  Tracker one;
  Tracker two;
  for (std::uint32_t number = 1; number <= 100; ++number)
    CHECK(one.announce(number).peers == two.announce(number).peers);
}

TEST_CASE("who asks too fast is told to slow down, and may go on later") {
  CoreOptions options;
  options.connection_rate = {.per_second = 2, .burst = 5};
  Tracker tracker(options);
  for (int i = 0; i < 5; ++i) tracker.announce(1);
  const auto reply = tracker.ask(1, {.content_id = content(1)});
  REQUIRE(std::holds_alternative<TrackerError>(reply));
  CHECK(std::get<TrackerError>(reply).code == TrackerErrorCode::kSlowDown);
  CHECK(std::get<TrackerError>(reply).retry_seconds == 1);
  tracker.announce(2);  // others are served
  tracker.pass(500ms);
  tracker.announce(1);
  CHECK(std::holds_alternative<TrackerError>(tracker.ask(1, {.content_id = content(1)})));
}

TEST_CASE("other rates, intervals and lifetimes hold at once, for those that are known too") {
  Tracker tracker;
  tracker.announce(1);
  CoreRules rules;
  rules.interval = 20s;
  rules.peer_ttl = 50s;
  rules.connection_rate = {.per_second = 1, .burst = 2};
  tracker.core.change(rules, tracker.now);
  CHECK(tracker.announce(1).interval_seconds == 20);
  tracker.announce(1);
  CHECK(std::holds_alternative<TrackerError>(tracker.ask(1, {.content_id = content(1)})));
  rules.connection_rate = {.per_second = 100, .burst = 100};
  tracker.core.change(rules, tracker.now);
  tracker.pass(1s);
  for (int i = 0; i < 50; ++i) tracker.announce(1);
  tracker.pass(52s);
  CHECK(tracker.registry.counts(content(1)) == SwarmCounts{});
}

TEST_CASE("connections of one network share a rate") {
  CoreOptions options;
  options.network_rate = {.per_second = 1, .burst = 4};
  Tracker tracker(options);
  // One IPv6 /64.
  tracker.connect(1, "2001:db8::1");
  tracker.connect(2, "2001:db8::2:1");
  tracker.connect(5, "2001:db8:0:1::1");
  tracker.connect(6, "2001:db8::6");
  for (int i = 0; i < 2; ++i) {
    tracker.announce(1);
    tracker.announce(2);
  }
  CHECK(std::holds_alternative<TrackerError>(tracker.ask(6, {.content_id = content(1)})));
  tracker.announce(5);
}

TEST_CASE("announces have a rate of their own, and prefixes one for all their networks") {
  CoreOptions options;
  options.announce_rate = {.per_second = 1, .burst = 2};
  options.prefix_rate = {.per_second = 1, .burst = 6};
  Tracker tracker(options);
  const auto refused = [&](std::uint32_t number) {
    return std::holds_alternative<TrackerError>(tracker.ask(number, {.content_id = content(1)}));
  };
  for (const auto& [number, ip] : {std::pair{1u, "192.0.2.1"}, {2u, "192.0.2.2"}})
    tracker.connect(number, ip);
  CHECK_FALSE(refused(1));
  CHECK_FALSE(refused(1));
  CHECK(refused(1));
  // Its manifests' parts are not announces.
  const auto part = tracker.core.handle(1, proto::TrackerManifestGet{content(1), 0}, tracker.now);
  CHECK(std::get<TrackerError>(part).code == TrackerErrorCode::kUnknownContent);
  CHECK_FALSE(refused(2));
  CHECK_FALSE(refused(2));
  tracker.connect(3, "192.0.2.3");
  CHECK(refused(3));  // the seventh of the prefix
  tracker.connect(4, "198.51.100.1");
  CHECK_FALSE(refused(4));
}

TEST_CASE("a swarm of fifty peers on one address does not meet the default rates") {
  Tracker tracker;
  for (std::uint32_t number = 1; number <= 50; ++number) tracker.connect(number, "127.0.0.1");
  for (int round = 0; round < 60; ++round)
    for (std::uint32_t number = 1; number <= 50; ++number) tracker.announce(number);
}

TEST_CASE("a full swarm lists no newcomer but tells it of others; a full tracker refuses") {
  Tracker tracker({}, {.content_count_max = 2, .peers_per_content_max = 3});
  for (std::uint32_t number = 1; number <= 3; ++number) tracker.announce(number);
  const AnnounceReply reply = tracker.announce(4);
  CHECK(reply.incomplete_count == 3);
  CHECK(reply.peers.size() == 3);
  tracker.announce(1);  // members stay members
  tracker.announce(1, false, AnnounceEvent::kStopped);
  CHECK(tracker.announce(4).incomplete_count == 3);

  (void)tracker.ask(5, {.content_id = content(2)});
  const auto refused = tracker.ask(5, {.content_id = content(3)});
  REQUIRE(std::holds_alternative<TrackerError>(refused));
  CHECK(std::get<TrackerError>(refused).code == TrackerErrorCode::kSlowDown);
  CHECK(std::get<TrackerError>(refused).retry_seconds == 60);
}

TEST_CASE(
    "a tracker that is behind tells peers to slow down that it knows, and serves the others") {
  Tracker tracker;
  tracker.announce(1);
  tracker.core.strain(true);
  tracker.pass(29s);
  const auto early = tracker.ask(1, {.content_id = content(1)});
  REQUIRE(std::holds_alternative<TrackerError>(early));
  CHECK(std::get<TrackerError>(early).code == TrackerErrorCode::kSlowDown);
  CHECK(std::get<TrackerError>(early).retry_seconds == 31);  // when it was to come
  CHECK(tracker.announce(2).peers == std::vector{peer(1).endpoint});
  CHECK(tracker.announce(2, true, AnnounceEvent::kCompleted).complete_count == 1);
  const auto other = tracker.ask(1, {.content_id = content(2)});
  CHECK(std::holds_alternative<AnnounceReply>(other));
  tracker.pass(1s);
  CHECK(tracker.announce(1).interval_seconds == 120);
  const auto leaving = tracker.ask(1, {.content_id = content(1), .event = AnnounceEvent::kStopped});
  CHECK(std::holds_alternative<AnnounceReply>(leaving));
  tracker.core.strain(false);
  CHECK(tracker.announce(2).interval_seconds == 60);
}

TEST_CASE("a tracker that is behind answers a peer that starts anew, or is not what it was") {
  Tracker tracker;
  tracker.announce(1);
  tracker.announce(2);
  tracker.core.strain(true);
  const auto answered = [&](AnnounceEvent event, std::uint16_t port, bool complete) {
    Announce request;
    request.content_id = content(1);
    request.event = event;
    request.listen_port = port;
    request.complete = complete;
    return std::holds_alternative<AnnounceReply>(tracker.ask(1, request));
  };
  CHECK_FALSE(answered(AnnounceEvent::kPeriodic, 0, false));
  CHECK(answered(AnnounceEvent::kStarted, 0, false));
  CHECK_FALSE(answered(AnnounceEvent::kPeriodic, 0, false));
  CHECK(answered(AnnounceEvent::kPeriodic, 77, false));
  CHECK_FALSE(answered(AnnounceEvent::kPeriodic, 77, false));
  CHECK(answered(AnnounceEvent::kPeriodic, 77, true));
  CHECK_FALSE(answered(AnnounceEvent::kPeriodic, 77, true));
  CHECK(tracker.announce(3).complete_count == 1);
}

TEST_CASE("a longer interval is shorter than the time after which a silent peer is forgotten") {
  CoreOptions options;
  options.peer_ttl = 100s;
  Tracker tracker(options);
  tracker.core.strain(true);
  const auto told = std::chrono::seconds(tracker.announce(1).interval_seconds);
  CHECK(told == 80s);
  tracker.pass(told);
  CHECK(tracker.announce(2).incomplete_count == 2);
}

}  // namespace
}  // namespace firn::tracker::test
