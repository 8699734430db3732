// Which peers are let in, which are sent away, and what they are told.
#include <doctest/doctest.h>

#include <algorithm>

#include "client/core/policy/constants.h"
#include "proto/base/limits.h"
#include "tests/core/bench.h"

using namespace firn;
using namespace firn::test;
using core::Close;
using core::Connect;
using proto::Goodbye;
using proto::GoodbyeReason;
using proto::Hello;

namespace {

GoodbyeReason reason_to(Bench& bench, PeerKey peer) {
  const auto goodbyes = bench.heard<Goodbye>(peer);
  REQUIRE(goodbyes.size() == 1);
  CHECK(bench.closed(peer));
  return goodbyes.front().reason;
}

}  // namespace

TEST_CASE("Hello says what we are, and State follows when both have the manifest") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.connect(1, peer_id(1));
  auto hellos = bench.heard<Hello>(1);
  REQUIRE(hellos.size() == 1);
  CHECK(hellos.front() == Hello{1, 1, bench.manifest.id, 7000, "bench", false});
  bench.start();
  bench.connect(2, peer_id(2));
  hellos = bench.heard<Hello>(2);
  REQUIRE(hellos.size() == 1);
  CHECK(hellos.front().has_manifest);
  CHECK(bench.heard<proto::State>(2).empty());
  Hello hello{1, 1, bench.manifest.id, 0, "", true};
  bench.say(2, hello);
  CHECK(bench.heard<proto::State>(2).size() == 1);
}

TEST_CASE("who is not what we can talk to is told why") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.start();
  Hello hello{1, 1, bench.manifest.id, 0, "", true};
  SUBCASE("ourselves") {
    bench.connect(1, plain_options().self);
    CHECK(reason_to(bench, 1) == GoodbyeReason::kSelf);
  }
  SUBCASE("another content") {
    bench.connect(1, peer_id(1));
    hello.content_id.bytes[5] ^= 1;
    bench.say(1, hello);
    CHECK(reason_to(bench, 1) == GoodbyeReason::kNotServing);
  }
  SUBCASE("versions to come") {
    bench.connect(1, peer_id(1));
    hello.version_min = 2, hello.version_max = 9;
    bench.say(1, hello);
    CHECK(reason_to(bench, 1) == GoodbyeReason::kVersion);
  }
  SUBCASE("more than enough neighbours, all of use") {
    for (std::uint32_t i = 0; i < core::policy::kNeighboursMax; ++i) {
      bench.open(100 + i, numbered(i));
    }
    bench.connect(1, peer_id(0x77));
    CHECK(reason_to(bench, 1) == GoodbyeReason::kTooManyPeers);
  }
  CHECK(bench.core.report().peers <= core::policy::kNeighboursMax);
}

TEST_CASE("a version range that includes ours will do") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.connect(1, peer_id(1));
  bench.say(1, Hello{1, 7, bench.manifest.id, 0, "", false});
  CHECK_FALSE(bench.closed(1));
}

TEST_CASE("breaking the order of messages is a fault") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.start();
  SUBCASE("a State before Hello") {
    bench.connect(1, peer_id(1));
    bench.say_state(1, 0, 4);
  }
  SUBCASE("a second Hello") {
    bench.open(1, peer_id(1));
    bench.say(1, Hello{1, 1, bench.manifest.id, 0, "", true});
  }
  SUBCASE("a proof of a private content, where the session is under way") {
    bench.open(1, peer_id(1));
    bench.say(1, proto::PrivateProof{});
  }
  SUBCASE("a block before any grant") {
    bench.open(1, peer_id(1), 0, false);
    bench.say(1, bench.block(0, 1, 0));
  }
  CHECK(reason_to(bench, 1) == GoodbyeReason::kProtocolError);
  CHECK(bench.noticed(peer_id(1).text()));
  bench.connect(2, peer_id(1));
  CHECK(reason_to(bench, 2) == GoodbyeReason::kBanned);
  bench.pass(31 * kSecond);
  bench.connect(3, peer_id(1));
  CHECK_FALSE(bench.closed(3));
}

TEST_CASE("who never says Hello is left") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.connect(1, peer_id(1));
  bench.pass(9 * kSecond);
  CHECK_FALSE(bench.closed(1));
  bench.pass(2 * kSecond);
  CHECK(reason_to(bench, 1) == GoodbyeReason::kProtocolError);
}

TEST_CASE("of two connections to one peer both sides keep the same") {
  const PeerId low = peer_id(1), high = peer_id(0x99);
  const auto kept = [](const PeerId& self, const PeerId& other, bool first_out, bool second_out) {
    core::Options options = plain_options();
    options.self = self;
    Bench bench(plain_manifest(2, 4, 16), options);
    bench.connect(1, other, first_out ? 50 : 0);
    bench.connect(2, other, second_out ? 51 : 0);
    const auto closes = bench.take<Close>();
    REQUIRE(closes.size() == 1);
    CHECK(bench.core.report().peers == 1);
    CHECK(bench.heard<Goodbye>(closes.front().peer).front().reason == GoodbyeReason::kDuplicate);
    return 3 - closes.front().peer;
  };
  // In each line the same two connections, seen from both ends in the same order.
  CHECK(kept(low, high, true, false) == kept(high, low, false, true));
  CHECK(kept(low, high, false, true) == kept(high, low, true, false));
  CHECK(kept(low, high, true, true) == kept(high, low, false, false));
  CHECK(kept(low, high, false, false) == kept(high, low, true, true));
  // The order may differ if one was opened from each side.
  CHECK(kept(low, high, true, false) != kept(high, low, true, false));
}

TEST_CASE("an address that turns out to be a connected peer's is not called again and again") {
  core::Options options = knowing({Address{std::nullopt, "192.0.2.1", 9}});
  options.self = peer_id(0x99);
  Bench bench(plain_manifest(2, 4, 16), options);
  const auto calls = bench.take<Connect>();
  REQUIRE(calls.size() == 1);
  bench.open(1, peer_id(1));  // opened by the lower id: this one stays
  bench.connect(2, peer_id(1), calls.front().attempt);
  CHECK(reason_to(bench, 2) == GoodbyeReason::kDuplicate);
  bench.pass(300 * kSecond, 10'000);
  CHECK(bench.take<Connect>().empty());
  bench.core.peer_closed(1, bench.now);
  bench.pass(10 * kSecond, 10'000);
  CHECK(bench.take<Connect>().size() == 1);
}

TEST_CASE("peers tell each other of peers that accept connections") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.open(1, peer_id(1), 0, true, 9);
  bench.open(2, peer_id(2), 0, true, 0);
  auto told = bench.heard<proto::PeerExchange>(2);
  REQUIRE(told.size() == 1);
  REQUIRE(told.front().peers.size() == 1);
  CHECK(told.front().peers.front() == proto::PeerEndpoint{peer_id(1), "192.0.2.1", 9});
  bench.pass(25 * kSecond);
  CHECK(bench.heard<proto::PeerExchange>(1).empty());      // peer 2 cannot be called
  CHECK(bench.heard<proto::PeerExchange>(2).size() == 2);  // soon, and when all are told
}

TEST_CASE("peers heard of are called, the swarm's own first key kept") {
  Bench bench(plain_manifest(2, 4, 16), knowing({Address{std::nullopt, "192.0.2.9", 9}}));
  auto calls = bench.take<Connect>();
  REQUIRE(calls.size() == 1);
  bench.open(1, peer_id(1), calls.front().attempt);
  CHECK(bench.noticed("proved the key " + peer_id(1).text()));
  bench.say(1,
            proto::PeerExchange{{{peer_id(7), "192.0.2.7", 7}, {plain_options().self, "::1", 7}}});
  calls = bench.take<Connect>();
  REQUIRE(calls.size() == 1);
  CHECK(calls.front().address == Address{peer_id(7), "192.0.2.7", 7});
}

TEST_CASE("a failing address given by hand is said once and tried again") {
  Bench bench(plain_manifest(2, 4, 16), knowing({Address{std::nullopt, "192.0.2.9", 9}}));
  int calls = 0;
  for (int i = 0; i < 60; ++i) {
    for (const Connect& call : bench.take<Connect>()) {
      ++calls;
      bench.core.connect_failed(call.attempt, {ErrorCode::kUnreachable, "connect", "refused"},
                                bench.now);
    }
    bench.drain();
    bench.pass(10 * kSecond, 1000);
  }
  CHECK(calls > 10);
  CHECK(bench.take<core::Notice>().size() == 1);
}

TEST_CASE("a full house makes room for a newcomer where somebody has been of no use for long") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.start();
  for (std::uint32_t i = 0; i < core::policy::kNeighboursMax; ++i) {
    bench.join(100 + i, numbered(i), 0);
  }
  bench.pass(300 * kSecond, 100'000);
  bench.take<Close>();
  bench.connect(1, peer_id(0x77));
  CHECK(bench.core.report().peers == core::policy::kNeighboursMax);
  const auto closes = bench.take<Close>();
  REQUIRE(closes.size() == 1);
  CHECK(closes.front().peer >= 100);
  CHECK(bench.heard<Goodbye>(closes.front().peer).front().reason == GoodbyeReason::kTooManyPeers);
}

TEST_CASE("who was told how many neighbours to have calls and accepts no more") {
  core::Options options = plain_options();
  options.neighbours_max = 3;
  for (std::uint16_t i = 0; i < 20; ++i) {
    options.peers.push_back(
        Address{std::nullopt, "192.0.2.9", static_cast<std::uint16_t>(1000 + i)});
  }
  Bench bench(plain_manifest(2, 4, 16), options);
  bench.start();
  CHECK(bench.take<Connect>().size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) bench.join(100 + i, numbered(i), 0);
  CHECK(bench.core.report().peers == 3);
  bench.take<Close>();
  bench.connect(1, peer_id(0x77));
  CHECK(bench.heard<Goodbye>(1).front().reason == GoodbyeReason::kTooManyPeers);
  CHECK(bench.core.report().peers == 3);
  CHECK(bench.take<Connect>().empty());
}

TEST_CASE("only where there is a place for everybody do the rules of a full mesh hold") {
  // By those rules a row at the front that did not come straight from the source is not passed on.
  const auto passes_on = [](std::uint32_t places, std::uint32_t told) {
    core::Options options = plain_options();
    options.neighbours_max = places;
    options.trackers = {Address{std::nullopt, "tracker", 1}};
    Bench bench(plain_manifest(2, 16, 16), options);
    bench.start();
    for (PeerKey peer = 1; peer <= 3; ++peer) bench.join(peer, numbered(peer), 4);
    if (told > 0) {
      proto::AnnounceReply reply;
      reply.complete_count = 1;
      reply.incomplete_count = told - 1;
      bench.core.tracker_replied(0, reply, bench.now);
    }
    proto::Block row = bench.coded_block(0, 1, std::vector<std::uint8_t>(16, 1));
    row.recoded = true;
    bench.say(1, row);
    return !bench.blocks_to(2).empty();
  };
  CHECK_FALSE(passes_on(0, 0));   // no neighbour knows of more than a few
  CHECK_FALSE(passes_on(0, 16));  // 16 with us, and there is room for 40
  CHECK(passes_on(0, 100));
  CHECK_FALSE(passes_on(15, 16));
  CHECK(passes_on(14, 16));  // one has no place
  CHECK_FALSE(passes_on(3, 4));
  CHECK_FALSE(passes_on(4, 0));
  CHECK(passes_on(3, 0));  // a full house: which peers were turned away is not known
}

TEST_CASE("one network cannot hold all places against others, its own newcomers have no claim") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.start();
  for (std::uint32_t i = 0; i < core::policy::kNeighboursMax; ++i) {
    bench.connect_from("2001:db8::" + std::to_string(i), 100 + i, numbered(i));
  }
  bench.take<Close>();
  bench.connect_from("2001:db8::77", 1, peer_id(0x77));
  CHECK(bench.heard<Goodbye>(1).front().reason == GoodbyeReason::kTooManyPeers);
  bench.take<Close>();
  for (std::uint32_t i = 0; i < 40; ++i) {
    bench.connect_from("198.51." + std::to_string(i) + ".1", 200 + i, numbered(1000 + i));
  }
  CHECK(bench.core.report().peers == core::policy::kNeighboursMax);
  std::size_t refused = 0, parted = 0;
  for (const auto& close : bench.take<Close>()) (close.peer >= 200 ? refused : parted) += 1;
  CHECK(parted == core::policy::kNeighboursMax - 1);  // to the last: no neighbour has more than one
  CHECK(refused == 40 - parted);
}

TEST_CASE("peers that come and go leave no traces without end") {
  Bench bench(plain_manifest(64, 4, 16));
  bench.start(true);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    PeerId id = numbered(i % 200);
    id.bytes[5] = static_cast<std::uint8_t>(i / 200);
    bench.join(i + 1, id, 1);
    bench.blocks_to(i + 1);
    bench.core.peer_closed(i + 1, bench.now);
    bench.actions.clear();
  }
  CHECK(bench.core.report().neighbours.size() <= 1024);
  CHECK(bench.core.report().blocks_sent == 5000);
}

TEST_CASE("a peer that several neighbours have banned is told to look at its memory") {
  Bench bench(plain_manifest(2, 4, 64));
  bench.start();
  for (PeerKey peer = 1; peer <= 4; ++peer)
    bench.open(peer, peer_id(static_cast<std::uint8_t>(peer)));
  int count = 0;
  const auto told = [&] {
    for (const core::Notice& notice : bench.take<core::Notice>()) {
      count += notice.text.find("check its memory") != std::string::npos;
    }
    return count;
  };
  const Goodbye banned{GoodbyeReason::kBanned, "sent a false block of generation 0"};
  bench.say(1, banned);
  bench.open(5, peer_id(1));  // the same peer once more
  bench.say(5, banned);
  bench.say(2, Goodbye{GoodbyeReason::kShuttingDown, ""});
  bench.say(3, banned);
  CHECK(told() == 0);
  bench.say(4, banned);
  CHECK(told() == 1);
}

TEST_CASE("a peer whose bytes are no messages is named and not let in again for a while") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.start(true);
  bench.join(1, peer_id(1), 1);
  bench.core.peer_broke_protocol(1, "read a frame: too long", bench.now);
  bench.drain();
  CHECK(bench.core.report().peers == 0);
  bool named = false;
  for (const core::Notice& notice : bench.take<core::Notice>())
    named |= notice.text.find(peer_id(1).text()) != std::string::npos &&
             notice.text.find("too long") != std::string::npos;
  CHECK(named);
  bench.open(2, peer_id(1));
  CHECK(reason_to(bench, 2) == GoodbyeReason::kBanned);
}

TEST_CASE("stop says goodbye to all peers and trackers, and nothing comes after it") {
  core::Options options = plain_options();
  options.trackers = {Address{std::nullopt, "tracker", 1}, Address{std::nullopt, "other", 1}};
  Bench bench(plain_manifest(2, 4, 16), options);
  bench.core.tracker_failed(1, {ErrorCode::kUnreachable, "announce", ""}, 0, bench.now);
  bench.open(1, peer_id(1));
  bench.open(2, peer_id(2));
  bench.take<core::AnnounceTo>();
  bench.core.stop(bench.now);
  bench.drain();
  CHECK(reason_to(bench, 1) == GoodbyeReason::kShuttingDown);
  CHECK(bench.heard<Goodbye>(2).size() == 1);
  const auto announces = bench.take<core::AnnounceTo>();
  REQUIRE(announces.size() == 1);
  CHECK(announces.front().tracker == 0);
  CHECK(announces.front().announce.event == proto::AnnounceEvent::kStopped);
  REQUIRE_FALSE(bench.actions.empty());
  CHECK(std::holds_alternative<core::Finished>(bench.actions.back()));
  CHECK(bench.take<core::Finished>().size() == 1);
  CHECK(bench.core.next_wake() == core::kNever);

  bench.actions.clear();
  bench.core.stop(bench.now);
  proto::AnnounceReply reply;
  reply.has_manifest = true;
  reply.peers = {{peer_id(7), "192.0.2.7", 7}};
  bench.core.tracker_replied(0, reply, bench.now);
  bench.core.tracker_failed(1, {ErrorCode::kUnreachable, "announce", ""}, 0, bench.now);
  bench.core.connect_failed(1, {ErrorCode::kUnreachable, "connect", ""}, bench.now);
  bench.core.store_paused({ErrorCode::kDiskFull, "write", ""}, bench.now);
  bench.say_state(1, 0, 4);
  bench.drain();
  CHECK(bench.actions.empty());
  bench.connect(3, peer_id(3));  // but for a connection that was on its way
  CHECK(reason_to(bench, 3) == GoodbyeReason::kShuttingDown);
}

TEST_CASE("in a large mesh a neighbour with which nothing moves makes room for somebody else") {
  core::Options options = plain_options();
  options.trackers = {Address{std::nullopt, "tracker", 1}};
  Bench bench(plain_manifest(4, 4, 16), options);
  bench.start();
  proto::AnnounceReply reply;
  reply.interval_seconds = 3600;
  reply.incomplete_count = 100;
  bench.core.tracker_replied(0, reply, bench.now);
  for (std::uint32_t i = 0; i < core::policy::kNeighboursWanted; ++i) {
    bench.join(100 + i, numbered(i), 4, i == 0);
  }
  // While no other peer is known, all stay.
  bench.pass(3 * core::policy::kExchangeInterval);
  CHECK(bench.take<core::Close>().empty());
  reply.peers = {{peer_id(0x66), "192.0.2.66", 66}};
  bench.core.tracker_replied(0, reply, bench.now);
  for (std::uint32_t i = 0; i < 7; ++i) {  // one brings something: this peer does not starve
    bench.say(100, bench.block(i / 4, i + 1, i % 4));
    bench.pass(core::policy::kExchangeInterval / 7 + kSecond / 7);
  }
  bench.pass(kSecond);
  CHECK(bench.take<core::Close>().size() == 1);
  const auto calls = bench.take<Connect>();
  REQUIRE(calls.size() == 1);
  CHECK(calls.front().address.port == 66);
}
