// Peer exchange: which peers are told of which others and when, and which exchanges are believed.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "client/core/base/types.h"
#include "proto/base/limits.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Connect;
using proto::Hello;

TEST_CASE("a peer that keeps out of peer exchange tells nobody its port") {
  core::Options options = plain_options();
  options.peer_exchange = false;
  Fixture fixture(plain_manifest(2, 4, 16), options);
  fixture.connect(1, peer_id(1));
  CHECK(fixture.heard<Hello>(1).front().listen_port == 0);
  fixture.open(2, peer_id(2), 0, true, 9);
  fixture.open(3, peer_id(3), 0, true, 9);
  CHECK(fixture.heard<proto::PeerExchange>(3).empty());
  fixture.say(2, proto::PeerExchange{{{peer_id(7), "192.0.2.7", 7}}});
  CHECK(fixture.take<Connect>().empty());
}

TEST_CASE("gossip without end is not listened to") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  fixture.open(1, peer_id(1));
  for (std::uint32_t i = 0; i < 50; ++i) {
    proto::PeerExchange exchange;
    for (std::uint32_t j = 0; j < limits::kPeerExchangeMax; ++j) {
      PeerId id = numbered(j);
      id.bytes[9] = static_cast<std::uint8_t>(i);
      exchange.peers.push_back({id, "10." + std::to_string(i) + "." + std::to_string(j) + ".1", 7});
    }
    fixture.say(1, exchange);
  }
  std::size_t calls = 0;
  for (bool more = true; more;) {
    more = false;
    for (const Connect& call : fixture.take<Connect>()) {
      ++calls, more = true;
      fixture.core.connect_failed(call.attempt, {ErrorCode::kUnreachable, "connect", ""},
                                  fixture.now);
      fixture.drain();
    }
  }
  CHECK(calls >= limits::kPeerExchangeMax);
  CHECK(calls <= 4 * limits::kPeerExchangeMax);
}

namespace {

// Waits until the peer is told of others: how long that takes. What it is told last is left to be
// heard.
TimeUs time_to_exchange(Fixture& fixture, PeerKey peer) {
  const TimeUs began = fixture.now;
  const auto told = [&] {
    return std::ranges::any_of(fixture.actions, [peer](const core::Action& action) {
      const auto* send = std::get_if<core::Send>(&action);
      return send && send->peer == peer &&
             std::holds_alternative<proto::PeerExchange>(send->message);
    });
  };
  while (!told() && fixture.now - began < 120 * kSecond) fixture.pass(10 * kMillisecond);
  return fixture.now - began;
}

}  // namespace

TEST_CASE("who has called us hears soon of those who accept connections, not again and again") {
  Fixture fixture(plain_manifest(4, 4, 16), knowing({Address{std::nullopt, "192.0.2.9", 9}}));
  const auto calls = fixture.take<Connect>();
  REQUIRE(calls.size() == 1);
  fixture.start();
  fixture.open(1, numbered(1));
  fixture.open(4, numbered(4), calls.front().attempt);
  fixture.open(2, numbered(2), 0, true, 70);
  const TimeUs soon = time_to_exchange(fixture, 1);
  CHECK(soon >= kSecond / 10);  // not once for each that comes
  CHECK(soon <= facts::kListensAgain / 2);
  const auto first = fixture.heard<proto::PeerExchange>(1);
  REQUIRE(first.size() == 1);
  REQUIRE(first[0].peers.size() == 1);
  CHECK(first[0].peers[0].id == numbered(2));
  CHECK(fixture.heard<proto::PeerExchange>(2).empty());  // no neighbour is told of the others
  // One that comes now is told of as soon as a side listens again.
  fixture.open(3, numbered(3), 0, true, 71);
  const TimeUs apart = time_to_exchange(fixture, 1);
  CHECK(apart >= facts::kListensAgain);
  CHECK(apart < 120 * kSecond);
  const auto second = fixture.heard<proto::PeerExchange>(1);
  REQUIRE(second.size() == 1);
  REQUIRE(second[0].peers.size() == 1);
  CHECK(second[0].peers[0].id == numbered(3));
  CHECK(fixture.heard<proto::PeerExchange>(4).empty());
  // Then all neighbours are told, also those that we called; without news not before the next time.
  CHECK(time_to_exchange(fixture, 1) >= facts::kListensAgain);
  CHECK(fixture.heard<proto::PeerExchange>(1).size() == 1);
  CHECK(fixture.heard<proto::PeerExchange>(4).size() == 1);
  CHECK(time_to_exchange(fixture, 1) > 3 * facts::kListensAgain / 2);
}

TEST_CASE("no peer exchange is sent sooner than a receiver listens again, and all get round") {
  Fixture fixture(plain_manifest(4, 4, 16));
  fixture.start();
  fixture.open(1, numbered(1));
  TimeUs heard_at = 0;
  std::set<PeerId> told;
  std::uint32_t key = 1;
  constexpr TimeUs kStep = kSecond / 10;
  for (TimeUs step = 0; step < 1200; ++step) {
    if (step == 5 || step == 20 || step == 120 || step == 220 || step == 410) {
      ++key;
      fixture.open(key, numbered(key), 0, true, 70);
    }
    fixture.pass(kStep);
    for (const auto& exchange : fixture.heard<proto::PeerExchange>(1)) {
      for (const auto& peer : exchange.peers) told.insert(peer.id);
      CHECK((heard_at == 0 || fixture.now - heard_at > facts::kListensAgain - kStep));
      heard_at = fixture.now;
    }
  }
  CHECK(told.size() == 5);
}

TEST_CASE("an exchange that comes a little sooner than the last one did is listened to") {
  Fixture fixture(plain_manifest(4, 4, 16));
  fixture.start();
  fixture.open(1, numbered(1));
  std::uint16_t told = 0;
  constexpr TimeUs kUsual = facts::kListensAgain;
  for (const TimeUs apart :
       {kSecond, kSecond, kUsual - 1, kUsual + 300'000, kUsual - 400'000, kSecond}) {
    fixture.pass(apart);
    proto::PeerExchange exchange;
    ++told;
    exchange.peers.push_back({numbered(100u + told), "10.0." + std::to_string(told) + ".1", told});
    fixture.say(1, exchange);
    fixture.pass(1);
    CAPTURE(told);
    bool called = false;
    for (const Connect& call : fixture.take<Connect>()) {
      called |= call.address.port == told;
      fixture.core.connect_failed(call.attempt, {ErrorCode::kUnreachable, "connect", ""},
                                  fixture.now);
      fixture.drain();
    }
    CHECK(called == (told <= 5));
  }
}

TEST_CASE("addresses of this machine and its link are called only where a neighbour shares them") {
  const char* const special[] = {
      "127.0.0.1", "::1",         "169.254.169.254", "fe80::7",        "0.0.0.0",
      "::",        "224.0.0.251", "ff02::fb",        "64:ff9b::7f00:1"};
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  std::string neighbour = "198.51.100.1";
  std::set<std::string> called;
  SUBCASE("it comes from afar") {}
  SUBCASE("it has a private address") {
    neighbour = "10.0.0.1";
  }
  SUBCASE("it is on this machine") {
    neighbour = "127.0.0.9";
    called = {"127.0.0.1", "::1", "64:ff9b::7f00:1"};
  }
  SUBCASE("it is on this link") {
    neighbour = "169.254.0.9";
    called = {"169.254.169.254", "fe80::7"};
  }
  fixture.core.peer_opened(1, peer_id(1), neighbour, 9, 0, fixture.now);
  fixture.say(1, Hello{1, 1, fixture.manifest.id, 0, "", true, ""});
  proto::PeerExchange exchange;
  std::uint32_t number = 0;
  for (const char* ip : special) exchange.peers.push_back({numbered(++number), ip, 7});
  exchange.peers.push_back({numbered(++number), "192.0.2.7", 7});
  fixture.say(1, exchange);
  called.insert("192.0.2.7");
  std::set<std::string> calls;
  for (const Connect& call : fixture.take<Connect>()) calls.insert(call.address.host);
  CHECK(calls == called);
}

TEST_CASE("private addresses are called only by a machine that has one") {
  core::LinkFacts link;
  link.in_private_range = false;
  core::Options options = plain_options();
  options.link = &link;
  Fixture fixture(plain_manifest(2, 4, 16), options);
  fixture.start();
  fixture.open(1, peer_id(1));
  fixture.say(1, proto::PeerExchange{{{peer_id(7), "192.168.0.7", 7}}});
  CHECK(fixture.take<Connect>().empty());
  link.in_private_range = true;
  fixture.say(1, proto::PeerExchange{{{peer_id(7), "192.168.0.7", 7}}});
  CHECK(fixture.take<Connect>().size() == 1);
}
