// Which peers are let in, which are sent away, and what they are told.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "proto/base/limits.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Close;
using core::Connect;
using proto::Goodbye;
using proto::GoodbyeReason;
using proto::Hello;

namespace {

GoodbyeReason reason_to(Fixture& fixture, PeerKey peer) {
  const auto goodbyes = fixture.heard<Goodbye>(peer);
  REQUIRE(goodbyes.size() == 1);
  CHECK(fixture.closed(peer));
  return goodbyes.front().reason;
}

}  // namespace

TEST_CASE("Hello says what we are, and State follows when both have the manifest") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.connect(1, peer_id(1));
  auto hellos = fixture.heard<Hello>(1);
  REQUIRE(hellos.size() == 1);
  CHECK(hellos.front() == Hello{1, 1, fixture.manifest.id, 7000, "fixture", false});
  fixture.start();
  fixture.connect(2, peer_id(2));
  hellos = fixture.heard<Hello>(2);
  REQUIRE(hellos.size() == 1);
  CHECK(hellos.front().has_manifest);
  CHECK(fixture.heard<proto::State>(2).empty());
  Hello hello{1, 1, fixture.manifest.id, 0, "", true};
  fixture.say(2, hello);
  CHECK(fixture.heard<proto::State>(2).size() == 1);
}

TEST_CASE("who is not what we can talk to is told why") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  Hello hello{1, 1, fixture.manifest.id, 0, "", true};
  SUBCASE("ourselves") {
    fixture.connect(1, plain_options().self);
    CHECK(reason_to(fixture, 1) == GoodbyeReason::kSelf);
  }
  SUBCASE("another content") {
    fixture.connect(1, peer_id(1));
    hello.content_id.bytes[5] ^= 1;
    fixture.say(1, hello);
    CHECK(reason_to(fixture, 1) == GoodbyeReason::kNotServing);
  }
  SUBCASE("versions to come") {
    fixture.connect(1, peer_id(1));
    hello.version_min = 2, hello.version_max = 9;
    fixture.say(1, hello);
    CHECK(reason_to(fixture, 1) == GoodbyeReason::kVersion);
  }
  SUBCASE("more than enough neighbours, all of use") {
    for (std::uint32_t i = 0; i < facts::kPlaces; ++i) {
      fixture.open(100 + i, numbered(i));
    }
    fixture.connect(1, peer_id(0x77));
    CHECK(reason_to(fixture, 1) == GoodbyeReason::kTooManyPeers);
  }
  CHECK(fixture.core.report().peers <= facts::kPlaces);
}

TEST_CASE("a version range that includes ours will do") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.connect(1, peer_id(1));
  fixture.say(1, Hello{1, 7, fixture.manifest.id, 0, "", false});
  CHECK_FALSE(fixture.closed(1));
}

TEST_CASE("breaking the order of messages is a fault") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  SUBCASE("a State before Hello") {
    fixture.connect(1, peer_id(1));
    fixture.say_state(1, 0, 4);
  }
  SUBCASE("a message of an unknown kind before Hello") {
    fixture.connect(1, peer_id(1));
    fixture.say(1, proto::PassedOver{});
  }
  SUBCASE("a second Hello") {
    fixture.open(1, peer_id(1));
    fixture.say(1, Hello{1, 1, fixture.manifest.id, 0, "", true});
  }
  SUBCASE("a proof of a private content, where the session is under way") {
    fixture.open(1, peer_id(1));
    fixture.say(1, proto::PrivateProof{});
  }
  SUBCASE("a block before any grant") {
    fixture.open(1, peer_id(1), 0, false);
    fixture.say(1, fixture.block(0, 1, 0));
  }
  CHECK(reason_to(fixture, 1) == GoodbyeReason::kProtocolError);
  CHECK(fixture.noticed(peer_id(1).text()));
  fixture.connect(2, peer_id(1));
  CHECK(reason_to(fixture, 2) == GoodbyeReason::kBanned);
  fixture.pass(31 * kSecond);
  fixture.connect(3, peer_id(1));
  CHECK_FALSE(fixture.closed(3));
}

TEST_CASE("who never says Hello is left") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.connect(1, peer_id(1));
  fixture.pass(kSecond);
  CHECK_FALSE(fixture.closed(1));
  fixture.pass(60 * kSecond);
  CHECK(reason_to(fixture, 1) == GoodbyeReason::kProtocolError);
}

TEST_CASE("of two connections to one peer both sides keep the same") {
  const PeerId low = peer_id(1), high = peer_id(0x99);
  const auto kept = [](const PeerId& self, const PeerId& other, bool first_out, bool second_out) {
    core::Options options = plain_options();
    options.self = self;
    Fixture fixture(plain_manifest(2, 4, 16), options);
    fixture.connect(1, other, first_out ? 50 : 0);
    fixture.connect(2, other, second_out ? 51 : 0);
    const auto closes = fixture.take<Close>();
    REQUIRE(closes.size() == 1);
    CHECK(fixture.core.report().peers == 1);
    CHECK(fixture.heard<Goodbye>(closes.front().peer).front().reason == GoodbyeReason::kDuplicate);
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
  Fixture fixture(plain_manifest(2, 4, 16), options);
  const auto calls = fixture.take<Connect>();
  REQUIRE(calls.size() == 1);
  fixture.open(1, peer_id(1));  // opened by the lower id: this one stays
  fixture.connect(2, peer_id(1), calls.front().attempt);
  CHECK(reason_to(fixture, 2) == GoodbyeReason::kDuplicate);
  fixture.pass(300 * kSecond, 10'000);
  CHECK(fixture.take<Connect>().empty());
  fixture.core.peer_closed(1, fixture.now);
  fixture.pass(10 * kSecond, 10'000);
  CHECK(fixture.take<Connect>().size() == 1);
}

TEST_CASE("peers tell each other of peers that accept connections") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.open(1, peer_id(1), 0, true, 9);
  fixture.open(2, peer_id(2), 0, true, 0);
  auto told = fixture.heard<proto::PeerExchange>(2);
  REQUIRE(told.size() == 1);
  REQUIRE(told.front().peers.size() == 1);
  CHECK(told.front().peers.front() == proto::PeerEndpoint{peer_id(1), "192.0.2.1", 9});
  fixture.pass(facts::kListensAgain * 5 / 2);
  CHECK(fixture.heard<proto::PeerExchange>(1).empty());      // peer 2 cannot be called
  CHECK(fixture.heard<proto::PeerExchange>(2).size() == 2);  // soon, and when all are told
}

TEST_CASE("peers heard of are called, the swarm's own first key kept") {
  Fixture fixture(plain_manifest(2, 4, 16), knowing({Address{std::nullopt, "192.0.2.9", 9}}));
  auto calls = fixture.take<Connect>();
  REQUIRE(calls.size() == 1);
  fixture.open(1, peer_id(1), calls.front().attempt);
  CHECK(fixture.noticed("proved the key " + peer_id(1).text()));
  fixture.say(
      1, proto::PeerExchange{{{peer_id(7), "192.0.2.7", 7}, {plain_options().self, "::1", 7}}});
  calls = fixture.take<Connect>();
  REQUIRE(calls.size() == 1);
  CHECK(calls.front().address == Address{peer_id(7), "192.0.2.7", 7});
}

TEST_CASE("a failing address given by hand is said once and tried again") {
  Fixture fixture(plain_manifest(2, 4, 16), knowing({Address{std::nullopt, "192.0.2.9", 9}}));
  int calls = 0;
  for (int i = 0; i < 60; ++i) {
    for (const Connect& call : fixture.take<Connect>()) {
      ++calls;
      fixture.core.connect_failed(call.attempt, {ErrorCode::kUnreachable, "connect", "refused"},
                                  fixture.now);
    }
    fixture.drain();
    fixture.pass(10 * kSecond, 1000);
  }
  CHECK(calls > 10);
  CHECK(fixture.take<core::Notice>().size() == 1);
}

TEST_CASE("a full house makes room for a newcomer where somebody has been of no use for long") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  for (std::uint32_t i = 0; i < facts::kPlaces; ++i) {
    fixture.join(100 + i, numbered(i), 0);
  }
  fixture.pass(300 * kSecond, 100'000);
  fixture.take<Close>();
  fixture.connect(1, peer_id(0x77));
  CHECK(fixture.core.report().peers == facts::kPlaces);
  const auto closes = fixture.take<Close>();
  REQUIRE(closes.size() == 1);
  CHECK(closes.front().peer >= 100);
  CHECK(fixture.heard<Goodbye>(closes.front().peer).front().reason == GoodbyeReason::kTooManyPeers);
}

TEST_CASE(
    "a peer that shares the content a little later is found within seconds, without much ado") {
  const auto warnings = [](Fixture& fixture) {
    return std::ranges::count_if(fixture.take<core::Notice>(), [](const core::Notice& notice) {
      return notice.text.find("refused us") != std::string::npos;
    });
  };
  const auto next_call = [](Fixture& fixture) {
    for (TimeUs waited = 0; waited < 120 * kSecond; waited += 100 * kMillisecond) {
      const auto calls = fixture.take<Connect>();
      REQUIRE(calls.size() <= 1);
      if (!calls.empty()) return calls.front().attempt;
      fixture.pass(100 * kMillisecond);
    }
    REQUIRE(false);
    return std::uint64_t{0};
  };
  const Goodbye unserved{GoodbyeReason::kNotServing, "unknown content"};
  SUBCASE("by its address alone") {
    Fixture fixture(plain_manifest(2, 4, 16), knowing({Address{std::nullopt, "192.0.2.1", 4000}}));
    fixture.start();
    std::uint64_t attempt = next_call(fixture);
    for (PeerKey peer = 1; peer <= 4; ++peer) {
      fixture.connect(peer, peer_id(1), attempt);
      fixture.say(peer, unserved);
      CHECK(fixture.closed(peer));
      CHECK(warnings(fixture) == (peer == 1 ? 1 : 0));
      attempt = next_call(fixture);
    }
    CHECK(fixture.now < 60 * kSecond);
    fixture.open(5, peer_id(1), attempt);
    CHECK(fixture.core.report().peers == 1);
  }
  SUBCASE("by a tracker, which may be wrong") {
    core::Options options = plain_options();
    options.trackers = {Address{std::nullopt, "tracker", 1}};
    Fixture fixture(plain_manifest(2, 4, 16), options);
    fixture.start();
    proto::AnnounceReply reply;
    reply.interval_seconds = 3600;
    reply.complete_count = 1;
    reply.peers = {{peer_id(1), "192.0.2.1", 4000}};
    fixture.core.tracker_replied(0, reply, fixture.now);
    fixture.drain();
    fixture.connect(1, peer_id(1), next_call(fixture));
    fixture.say(1, unserved);
    CHECK(warnings(fixture) == 1);
    const TimeUs refused_at = fixture.now;
    const std::uint64_t attempt = next_call(fixture);
    CHECK(fixture.now - refused_at > 10 * kSecond);
    fixture.open(2, peer_id(1), attempt);
    CHECK(fixture.core.report().peers == 1);
  }
}

TEST_CASE("who was told how many neighbours to have calls and accepts no more") {
  core::Options options = plain_options();
  options.neighbours_max = 3;
  for (std::uint16_t i = 0; i < 20; ++i) {
    options.peers.push_back(
        Address{std::nullopt, "192.0.2.9", static_cast<std::uint16_t>(1000 + i)});
  }
  Fixture fixture(plain_manifest(2, 4, 16), options);
  fixture.start();
  CHECK(fixture.take<Connect>().size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) fixture.join(100 + i, numbered(i), 0);
  CHECK(fixture.core.report().peers == 3);
  fixture.take<Close>();
  fixture.connect(1, peer_id(0x77));
  CHECK(fixture.heard<Goodbye>(1).front().reason == GoodbyeReason::kTooManyPeers);
  CHECK(fixture.core.report().peers == 3);
  CHECK(fixture.take<Connect>().empty());
}

TEST_CASE("only where there is a place for everybody do the rules of a full mesh hold") {
  // By those rules a row at the front that did not come straight from the source is not passed on.
  const auto passes_on = [](std::uint32_t places, std::uint32_t told) {
    core::Options options = plain_options();
    options.neighbours_max = places;
    options.trackers = {Address{std::nullopt, "tracker", 1}};
    Fixture fixture(plain_manifest(2, 16, 16), options);
    fixture.start();
    for (PeerKey peer = 1; peer <= 3; ++peer) fixture.join(peer, numbered(peer), 4);
    if (told > 0) {
      proto::AnnounceReply reply;
      reply.complete_count = 1;
      reply.incomplete_count = told - 1;
      fixture.core.tracker_replied(0, reply, fixture.now);
    }
    proto::Block row = fixture.coded_block(0, 1, std::vector<std::uint8_t>(16, 1));
    row.recoded = true;
    fixture.say(1, row);
    return !fixture.blocks_to(2).empty();
  };
  CHECK_FALSE(passes_on(0, 0));   // no neighbour knows of more than a few
  CHECK_FALSE(passes_on(0, 10));  // ten with us, and there is room for more
  CHECK(passes_on(0, 100));
  CHECK_FALSE(passes_on(9, 10));
  CHECK(passes_on(8, 10));  // one has no place
  CHECK_FALSE(passes_on(3, 4));
  CHECK_FALSE(passes_on(4, 0));
  CHECK(passes_on(3, 0));  // a full house: which peers were turned away is not known
}

TEST_CASE("one network cannot hold all places against others, its own newcomers have no claim") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  for (std::uint32_t i = 0; i < facts::kPlaces; ++i) {
    fixture.connect_from("2001:db8::" + std::to_string(i), 100 + i, numbered(i));
  }
  fixture.take<Close>();
  fixture.connect_from("2001:db8::77", 1, peer_id(0x77));
  CHECK(fixture.heard<Goodbye>(1).front().reason == GoodbyeReason::kTooManyPeers);
  fixture.take<Close>();
  for (std::uint32_t i = 0; i < facts::kPlaces; ++i) {
    fixture.connect_from("198.51." + std::to_string(i) + ".1", 200 + i, numbered(1000 + i));
  }
  CHECK(fixture.core.report().peers == facts::kPlaces);
  std::size_t refused = 0, parted = 0;
  for (const auto& close : fixture.take<Close>()) (close.peer >= 200 ? refused : parted) += 1;
  CHECK(parted == facts::kPlaces - 1);  // to the last: no neighbour has more than one
  CHECK(refused == facts::kPlaces - parted);
}

TEST_CASE("peers that come and go leave no traces without end") {
  Fixture fixture(plain_manifest(64, 4, 16));
  fixture.start(true);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    PeerId id = numbered(i % 200);
    id.bytes[5] = static_cast<std::uint8_t>(i / 200);
    fixture.join(i + 1, id, 1);
    fixture.blocks_to(i + 1);
    fixture.core.peer_closed(i + 1, fixture.now);
    fixture.actions.clear();
  }
  CHECK(fixture.core.report().neighbours.size() < 2500);
  CHECK(fixture.core.report().blocks_sent == 5000);
}

TEST_CASE("a peer that several neighbours have banned is told to look at its memory") {
  Fixture fixture(plain_manifest(2, 4, 64));
  fixture.start();
  for (PeerKey peer = 1; peer <= 4; ++peer)
    fixture.open(peer, peer_id(static_cast<std::uint8_t>(peer)));
  int count = 0;
  const auto told = [&] {
    for (const core::Notice& notice : fixture.take<core::Notice>()) {
      count += notice.text.find("check its memory") != std::string::npos;
    }
    return count;
  };
  const Goodbye banned{GoodbyeReason::kBanned, "sent a false block of generation 0"};
  fixture.say(1, banned);
  fixture.open(5, peer_id(1));  // the same peer once more
  fixture.say(5, banned);
  fixture.say(2, Goodbye{GoodbyeReason::kShuttingDown, ""});
  fixture.say(3, banned);
  CHECK(told() == 0);
  fixture.say(4, banned);
  CHECK(told() == 1);
}

TEST_CASE("a peer whose bytes are no messages is named and not let in again for a while") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start(true);
  fixture.join(1, peer_id(1), 1);
  fixture.core.peer_broke_protocol(1, "read a frame: too long", fixture.now);
  fixture.drain();
  CHECK(fixture.core.report().peers == 0);
  bool named = false;
  for (const core::Notice& notice : fixture.take<core::Notice>())
    named |= notice.text.find(peer_id(1).text()) != std::string::npos &&
             notice.text.find("too long") != std::string::npos;
  CHECK(named);
  fixture.open(2, peer_id(1));
  CHECK(reason_to(fixture, 2) == GoodbyeReason::kBanned);
}

TEST_CASE("stop says goodbye to all peers and trackers, and nothing comes after it") {
  core::Options options = plain_options();
  options.trackers = {Address{std::nullopt, "tracker", 1}, Address{std::nullopt, "other", 1}};
  Fixture fixture(plain_manifest(2, 4, 16), options);
  fixture.core.tracker_failed(1, {ErrorCode::kUnreachable, "announce", ""}, 0, fixture.now);
  fixture.open(1, peer_id(1));
  fixture.open(2, peer_id(2));
  fixture.take<core::AnnounceTo>();
  fixture.core.stop(fixture.now);
  fixture.drain();
  CHECK(reason_to(fixture, 1) == GoodbyeReason::kShuttingDown);
  CHECK(fixture.heard<Goodbye>(2).size() == 1);
  const auto announces = fixture.take<core::AnnounceTo>();
  REQUIRE(announces.size() == 1);
  CHECK(announces.front().tracker == 0);
  CHECK(announces.front().announce.event == proto::AnnounceEvent::kStopped);
  REQUIRE_FALSE(fixture.actions.empty());
  CHECK(std::holds_alternative<core::Finished>(fixture.actions.back()));
  CHECK(fixture.take<core::Finished>().size() == 1);
  CHECK(fixture.core.next_wake() == core::kNever);

  fixture.actions.clear();
  fixture.core.stop(fixture.now);
  proto::AnnounceReply reply;
  reply.has_manifest = true;
  reply.peers = {{peer_id(7), "192.0.2.7", 7}};
  fixture.core.tracker_replied(0, reply, fixture.now);
  fixture.core.tracker_failed(1, {ErrorCode::kUnreachable, "announce", ""}, 0, fixture.now);
  fixture.core.connect_failed(1, {ErrorCode::kUnreachable, "connect", ""}, fixture.now);
  fixture.core.store_paused({ErrorCode::kDiskFull, "write", ""}, fixture.now);
  fixture.say_state(1, 0, 4);
  fixture.drain();
  CHECK(fixture.actions.empty());
  fixture.connect(3, peer_id(3));  // but for a connection that was on its way
  CHECK(reason_to(fixture, 3) == GoodbyeReason::kShuttingDown);
}

TEST_CASE("in a large mesh a neighbour with which nothing moves makes room for somebody else") {
  core::Options options = plain_options();
  options.trackers = {Address{std::nullopt, "tracker", 1}};
  Fixture fixture(plain_manifest(4, 4, 16), options);
  fixture.start();
  proto::AnnounceReply reply;
  reply.interval_seconds = 3600;
  reply.incomplete_count = 100;
  // It calls a quarter of them itself, however many others call it.
  constexpr std::uint32_t kOwn = facts::kOwnCalls;
  for (std::uint32_t i = 0; i < kOwn; ++i)
    reply.peers.push_back({numbered(i), "192.0.2." + std::to_string(i), 1});
  fixture.core.tracker_replied(0, reply, fixture.now);
  fixture.drain();
  std::map<PeerId, std::uint64_t> attempts;
  for (const Connect& call : fixture.take<Connect>()) attempts[*call.address.id] = call.attempt;
  REQUIRE(attempts.size() == kOwn);
  for (std::uint32_t i = 0; i < facts::kWanted; ++i)
    fixture.join(100 + i, numbered(i), 4, i == 0, i < kOwn ? attempts.at(numbered(i)) : 0);
  // While no other peer is known, all stay.
  fixture.pass(60 * kSecond);
  CHECK(fixture.take<core::Close>().empty());
  reply.peers = {{peer_id(0x66), "192.0.2.66", 66}};
  fixture.core.tracker_replied(0, reply, fixture.now);
  for (std::uint32_t i = 0; i < 7; ++i) {  // one brings something: this peer does not starve
    fixture.say(100, fixture.block(i / 4, i + 1, i % 4));
    fixture.pass(3 * kSecond);
  }
  fixture.pass(kSecond);
  CHECK(fixture.take<core::Close>().size() == 1);
  const auto calls = fixture.take<Connect>();
  REQUIRE(calls.size() == 1);
  CHECK(calls.front().address.port == 66);
}

TEST_CASE("a peer that calls does not wait for Hello to say what it holds and takes") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  fixture.connect(1, peer_id(1), 77);
  REQUIRE(fixture.heard<Hello>(1).size() == 1);
  const auto states = fixture.heard<proto::State>(1);
  REQUIRE(states.size() == 1);
  CHECK(states.front().credit > 0);
  SUBCASE("it may be answered with Hello and a block at once") {
    fixture.say(1, Hello{1, 1, fixture.manifest.id, 0, "", true});
    CHECK(fixture.heard<proto::State>(1).empty());
    fixture.say(1, fixture.block(0, 1, 0));
    CHECK_FALSE(fixture.closed(1));
    CHECK(fixture.core.report().rank == 1);
  }
  SUBCASE("a peer that did not have the manifest yet is told once more when it has") {
    fixture.say(1, Hello{1, 1, fixture.manifest.id, 0, "", false});
    fixture.pass(120 * kSecond, 1000);
    CHECK(fixture.heard<proto::State>(1).empty());
    fixture.say_state(1, 0, 4);
    CHECK(fixture.heard<proto::State>(1).size() == 1);
  }
}
