// Why nothing moves, as the core tells it, and the table of peers.
#include "client/core/view/standstill.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Connect;
using core::NeighbourStanding;
using core::PeerStatus;
using core::Standstill;
using core::TrackerStanding;

namespace {

Address address(std::uint8_t last) {
  return {std::nullopt, "192.0.2." + std::to_string(last), 9};
}

core::Options with_tracker(std::vector<Address> peers = {}) {
  core::Options options = knowing(std::move(peers));
  options.trackers = {Address{std::nullopt, "tracker.example", 4711}};
  return options;
}

const core::AddressStanding& of(const Standstill& why, const Address& where) {
  const auto found = std::find_if(why.addresses.begin(), why.addresses.end(), [&](const auto& one) {
    return one.address.host == where.host && one.address.port == where.port;
  });
  REQUIRE(found != why.addresses.end());
  return *found;
}

}  // namespace

TEST_CASE("nobody is there: what trackers and addresses have said so far is told") {
  Fixture fixture(plain_manifest(2, 4, 16), with_tracker({address(1), address(2)}));
  fixture.start();
  const auto calls = fixture.take<Connect>();
  REQUIRE(calls.size() == 2);
  Standstill why = fixture.core.standstill();
  CHECK(why.kind == Standstill::Kind::kNobody);
  REQUIRE(why.trackers.size() == 1);
  CHECK(why.trackers[0].kind == TrackerStanding::Kind::kNoAnswerYet);
  CHECK(why.trackers[0].address.host == "tracker.example");
  CHECK(of(why, address(1)).calling);
  CHECK(of(why, address(1)).since == fixture.now);
  CHECK(of(why, address(1)).error.empty());

  fixture.core.connect_failed(calls[0].attempt, {ErrorCode::kUnreachable, "connect", "refused"},
                              fixture.now);
  proto::AnnounceReply reply;
  reply.interval_seconds = 60;
  reply.incomplete_count = 1;
  fixture.core.tracker_replied(0, reply, fixture.now);
  why = fixture.core.standstill();
  CHECK(why.trackers[0].kind == TrackerStanding::Kind::kAnswered);
  CHECK(why.trackers[0].swarm == 1);
  CHECK(of(why, calls[0].address).error == "refused");
  CHECK_FALSE(of(why, calls[0].address).calling);
  CHECK(of(why, calls[1].address).calling);

  // While it is called again the last outcome still stands.
  fixture.pass(2 * kSecond);
  why = fixture.core.standstill();
  CHECK(of(why, calls[0].address).error == "refused");
  CHECK(of(why, calls[0].address).calling);

  fixture.core.tracker_failed(0, {ErrorCode::kUnreachable, "connect", "no route"}, 0, fixture.now);
  why = fixture.core.standstill();
  CHECK(why.trackers[0].kind == TrackerStanding::Kind::kFailed);
  CHECK(why.trackers[0].error == "no route");
}

TEST_CASE("what a peer said when it left stands at its address") {
  Fixture fixture(plain_manifest(2, 4, 16), knowing({address(1)}));
  fixture.start();
  const auto calls = fixture.take<Connect>();
  REQUIRE(calls.size() == 1);
  fixture.open(1, peer_id(1), calls[0].attempt);
  CHECK(fixture.core.standstill().addresses.empty());  // it leads to a neighbour
  SUBCASE("in its goodbye") {
    fixture.say(1, proto::Goodbye{proto::GoodbyeReason::kTooManyPeers, "full"});
    const Standstill why = fixture.core.standstill();
    CHECK(why.kind == Standstill::Kind::kNobody);
    CHECK(of(why, address(1)).error == "it has neighbours enough (full)");
  }
  SUBCASE("or why the connection ended without one") {
    fixture.core.peer_closed(1, fixture.now, "nothing received for 120000 ms");
    CHECK(of(fixture.core.standstill(), address(1)).error == "nothing received for 120000 ms");
  }
}

TEST_CASE("a neighbour is silent at each step in its own way") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  fixture.connect(1, peer_id(1));
  Standstill why = fixture.core.standstill();
  CHECK(why.kind == Standstill::Kind::kNoState);
  REQUIRE(why.neighbours.size() == 1);
  CHECK(why.neighbours[0].kind == NeighbourStanding::Kind::kNoHello);
  CHECK(why.neighbours[0].endpoint == "192.0.2.1:4000");
  proto::Hello hello;
  hello.content_id = fixture.manifest.id;
  hello.has_manifest = true;
  fixture.say(1, hello);
  why = fixture.core.standstill();
  CHECK(why.kind == Standstill::Kind::kNoState);
  CHECK(why.neighbours[0].kind == NeighbourStanding::Kind::kNoState);
  fixture.pass(kSecond);
  fixture.say_state(1, 0, 0, {}, {{0, 2}});
  fixture.pass(5 * kSecond);
  why = fixture.core.standstill();
  CHECK(why.kind == Standstill::Kind::kSilent);
  CHECK(why.neighbours[0].kind == NeighbourStanding::Kind::kSilent);
  CHECK(why.neighbours[0].heard_at == fixture.now - 5 * kSecond);
}

TEST_CASE("without the manifest and with neighbours that lack it, that is why") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.open(1, peer_id(1), 0, false);
  CHECK(fixture.core.standstill().kind == Standstill::Kind::kNoManifest);
}

TEST_CASE("what no neighbour holds is lacking, and who withdrew it is named") {
  constexpr std::uint64_t kGeneration = 4 * 16;
  Fixture fixture(plain_manifest(8, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  proto::State state;
  state.withdrawn = state.unwanted = {{2, 2}, {5, 1}};
  for (std::uint32_t g : {0, 1, 4, 6, 7}) fixture.core.generation_decoded(g, {}, fixture.now);
  fixture.say(1, state);
  fixture.open(2, peer_id(2));
  fixture.say_state(2, 0, 0);
  Standstill why = fixture.core.standstill();
  CHECK(why.kind == Standstill::Kind::kSilent);  // the rest can still come
  CHECK(why.lacking_bytes == 3 * kGeneration);
  REQUIRE(why.neighbours.size() == 2);
  CHECK(why.neighbours[0].withdrawn_bytes == 3 * kGeneration);
  CHECK(why.neighbours[1].withdrawn_bytes == 0);
  CHECK(why.neighbours[1].kind == NeighbourStanding::Kind::kLacks);
  fixture.say_state(1, 0, 0,
                    {{0, 0, 0, {}}, {1, 0, 0, {}}, {4, 0, 0, {}}, {6, 0, 0, {}}, {7, 0, 0, {}}});
  why = fixture.core.standstill();
  CHECK(why.kind == Standstill::Kind::kLacking);
  CHECK(why.lacking_bytes == 8 * kGeneration);
}

TEST_CASE("a rank that is no higher than ours is of no help") {
  Fixture fixture(plain_manifest(1, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0);
  fixture.say_state(1, 0, 0, {{0, 1, 0, {}}});
  CHECK(fixture.core.standstill().kind == Standstill::Kind::kSilent);
  fixture.pass(kSecond);
  fixture.say(1, fixture.coded_block(0, 1, {1, 2, 3, 4}));
  CHECK(fixture.core.standstill().kind == Standstill::Kind::kLacking);
}

TEST_CASE("the disk, the decoding and the finishing of files are reasons of our own") {
  Fixture fixture(plain_manifest(1, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  fixture.core.store_paused({ErrorCode::kDiskFull, "write", "no space"}, fixture.now);
  Standstill why = fixture.core.standstill();
  CHECK(why.kind == Standstill::Kind::kStorePaused);
  CHECK(why.store_error.find("no space") != std::string::npos);
  fixture.core.store_resumed(fixture.now);
  fixture.pass(kSecond);
  CHECK(fixture.core.standstill().kind == Standstill::Kind::kSilent);
  for (std::uint32_t i = 0; i < 4; ++i) fixture.say(1, fixture.block(0, 1 + i, i));
  CHECK(fixture.core.standstill().kind == Standstill::Kind::kDecoding);
  fixture.core.generation_decoded(0, core::DecodeOutcome::kVerified, fixture.now);
  CHECK(fixture.core.standstill().kind == Standstill::Kind::kFinishing);
}

TEST_CASE("rows that wait for the disk hold everything up") {
  core::Options options = plain_options();
  options.memory_bytes = 1;  // room for 8 blocks
  Fixture fixture(plain_manifest(4, 16, 16), options);
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  for (std::uint32_t sequence = 1; sequence <= 8; ++sequence) {
    fixture.pass(kSecond);
    fixture.say(1, fixture.block(0, sequence, sequence));
  }
  CHECK(fixture.core.standstill().kind == Standstill::Kind::kStoreBehind);
  for (int i = 0; i < 8; ++i) fixture.core.row_stored(fixture.now);
  CHECK(fixture.core.standstill().kind == Standstill::Kind::kSilent);
}

TEST_CASE("progress is what brings the download on, and nothing else") {
  Fixture fixture(plain_manifest(1, 4, 16));
  const TimeUs began = fixture.now;
  CHECK(fixture.core.counters().progressed_at == began);
  fixture.pass(kSecond);
  fixture.start();
  CHECK(fixture.core.counters().progressed_at == fixture.now);
  const TimeUs started = fixture.now;
  fixture.pass(kSecond);
  fixture.join(1, peer_id(1), 0, true);
  fixture.pass(kSecond);
  CHECK(fixture.core.counters().progressed_at == started);
  fixture.say(1, fixture.block(0, 1, 0));
  const TimeUs first = fixture.now;
  CHECK(fixture.core.counters().progressed_at == first);
  fixture.pass(kSecond);
  fixture.say(1, fixture.block(0, 2, 0));  // redundant
  CHECK(fixture.core.counters().progressed_at == first);
}

TEST_CASE("the table of peers shows what each holds, moves and does") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  fixture.connect(1, peer_id(1));
  REQUIRE(fixture.core.view().peers.size() == 1);
  PeerStatus peer = fixture.core.view().peers[0];
  CHECK(peer.state == PeerStatus::State::kGreeting);
  CHECK(peer.endpoint == "192.0.2.1:4000");
  CHECK_FALSE(peer.outgoing);
  CHECK(peer.held == 0);
  proto::Hello hello;
  hello.content_id = fixture.manifest.id;
  hello.has_manifest = true;
  fixture.say(1, hello);
  CHECK(fixture.core.view().peers[0].state == PeerStatus::State::kWaiting);
  fixture.say_state(1, 0, 0, {{1, 2, 0, {}}}, {{0, 1}});
  peer = fixture.core.view().peers[0];
  CHECK(peer.held == doctest::Approx(0.75));
  fixture.pass(kSecond);
  fixture.say(1, fixture.block(0, 1, 0));
  fixture.say(1, fixture.block(0, 2, 0));
  peer = fixture.core.view().peers[0];
  CHECK(peer.state == PeerStatus::State::kSends);
  CHECK(peer.blocks_received == 2);
  CHECK(peer.blocks_innovative == 1);
  CHECK(peer.bytes_received > 2 * 16);
  CHECK(peer.bytes_sent > 0);
  CHECK(peer.down_rate > 0);
  fixture.pass(10 * kSecond);
  peer = fixture.core.view().peers[0];
  CHECK(peer.state == PeerStatus::State::kSilent);
  CHECK(peer.silent_for == 10 * kSecond);
  CHECK(peer.connected_for == 11 * kSecond);
}
