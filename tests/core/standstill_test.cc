// Why nothing moves, as the core tells it, and the table of peers.
#include "client/core/explain.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/core/bench.h"

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
  Bench bench(plain_manifest(2, 4, 16), with_tracker({address(1), address(2)}));
  bench.start();
  const auto calls = bench.take<Connect>();
  REQUIRE(calls.size() == 2);
  Standstill why = bench.core.standstill();
  CHECK(why.kind == Standstill::Kind::kNobody);
  REQUIRE(why.trackers.size() == 1);
  CHECK(why.trackers[0].kind == TrackerStanding::Kind::kNoAnswerYet);
  CHECK(why.trackers[0].address.host == "tracker.example");
  CHECK(of(why, address(1)).calling);
  CHECK(of(why, address(1)).since == bench.now);
  CHECK(of(why, address(1)).error.empty());

  bench.core.connect_failed(calls[0].attempt, {ErrorCode::kUnreachable, "connect", "refused"},
                            bench.now);
  proto::AnnounceReply reply;
  reply.interval_seconds = 60;
  reply.incomplete_count = 1;
  bench.core.tracker_replied(0, reply, bench.now);
  why = bench.core.standstill();
  CHECK(why.trackers[0].kind == TrackerStanding::Kind::kAnswered);
  CHECK(why.trackers[0].swarm == 1);
  CHECK(of(why, calls[0].address).error == "refused");
  CHECK_FALSE(of(why, calls[0].address).calling);
  CHECK(of(why, calls[1].address).calling);

  // While it is called again the last outcome still stands.
  bench.pass(2 * kSecond);
  why = bench.core.standstill();
  CHECK(of(why, calls[0].address).error == "refused");
  CHECK(of(why, calls[0].address).calling);

  bench.core.tracker_failed(0, {ErrorCode::kUnreachable, "connect", "no route"}, 0, bench.now);
  why = bench.core.standstill();
  CHECK(why.trackers[0].kind == TrackerStanding::Kind::kFailed);
  CHECK(why.trackers[0].error == "no route");
}

TEST_CASE("what a peer said when it left stands at its address") {
  Bench bench(plain_manifest(2, 4, 16), knowing({address(1)}));
  bench.start();
  const auto calls = bench.take<Connect>();
  REQUIRE(calls.size() == 1);
  bench.open(1, peer_id(1), calls[0].attempt);
  CHECK(bench.core.standstill().addresses.empty());  // it leads to a neighbour
  SUBCASE("in its goodbye") {
    bench.say(1, proto::Goodbye{proto::GoodbyeReason::kTooManyPeers, "full"});
    const Standstill why = bench.core.standstill();
    CHECK(why.kind == Standstill::Kind::kNobody);
    CHECK(of(why, address(1)).error == "it has neighbours enough (full)");
  }
  SUBCASE("or why the connection ended without one") {
    bench.core.peer_closed(1, bench.now, "nothing received for 120000 ms");
    CHECK(of(bench.core.standstill(), address(1)).error == "nothing received for 120000 ms");
  }
}

TEST_CASE("a neighbour is silent at each step in its own way") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.start();
  bench.connect(1, peer_id(1));
  Standstill why = bench.core.standstill();
  CHECK(why.kind == Standstill::Kind::kNoState);
  REQUIRE(why.neighbours.size() == 1);
  CHECK(why.neighbours[0].kind == NeighbourStanding::Kind::kNoHello);
  CHECK(why.neighbours[0].endpoint == "192.0.2.1:4000");
  proto::Hello hello;
  hello.content_id = bench.manifest.id;
  hello.has_manifest = true;
  bench.say(1, hello);
  why = bench.core.standstill();
  CHECK(why.kind == Standstill::Kind::kNoState);
  CHECK(why.neighbours[0].kind == NeighbourStanding::Kind::kNoState);
  bench.pass(kSecond);
  bench.say_state(1, 0, 0, {}, {{0, 2}});
  bench.pass(5 * kSecond);
  why = bench.core.standstill();
  CHECK(why.kind == Standstill::Kind::kSilent);
  CHECK(why.neighbours[0].kind == NeighbourStanding::Kind::kSilent);
  CHECK(why.neighbours[0].heard_at == bench.now - 5 * kSecond);
}

TEST_CASE("without the manifest and with neighbours that lack it, that is why") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.open(1, peer_id(1), 0, false);
  CHECK(bench.core.standstill().kind == Standstill::Kind::kNoManifest);
}

TEST_CASE("what no neighbour holds is lacking, and who withdrew it is named") {
  Bench bench(plain_manifest(8, 4, 16));
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  proto::State state;
  state.withdrawn = state.unwanted = {{2, 2}, {5, 1}};
  for (std::uint32_t g : {0, 1, 4, 6, 7}) bench.core.generation_decoded(g, {}, bench.now);
  bench.say(1, state);
  bench.open(2, peer_id(2));
  bench.say_state(2, 0, 0);
  Standstill why = bench.core.standstill();
  CHECK(why.kind == Standstill::Kind::kSilent);  // the rest can still come
  const std::vector<proto::Span> lost{{2, 2}, {5, 1}};
  CHECK(why.lacking == lost);
  CHECK(why.lacking_count == 3);
  REQUIRE(why.neighbours.size() == 2);
  CHECK(why.neighbours[0].withdrawn == lost);
  CHECK(why.neighbours[1].withdrawn.empty());
  CHECK(why.neighbours[1].kind == NeighbourStanding::Kind::kLacks);
  bench.say_state(1, 0, 0,
                  {{0, 0, 0, {}}, {1, 0, 0, {}}, {4, 0, 0, {}}, {6, 0, 0, {}}, {7, 0, 0, {}}});
  why = bench.core.standstill();
  CHECK(why.kind == Standstill::Kind::kLacking);
  CHECK(why.lacking == std::vector<proto::Span>{{0, 8}});
}

TEST_CASE("a rank that is no higher than ours is of no help") {
  Bench bench(plain_manifest(1, 4, 16));
  bench.start();
  bench.join(1, peer_id(1), 0);
  bench.say_state(1, 0, 0, {{0, 1, 0, {}}});
  CHECK(bench.core.standstill().kind == Standstill::Kind::kSilent);
  bench.pass(kSecond);
  bench.say(1, bench.coded_block(0, 1, {1, 2, 3, 4}));
  CHECK(bench.core.standstill().kind == Standstill::Kind::kLacking);
}

TEST_CASE("the disk, the decoding and the finishing of files are reasons of our own") {
  Bench bench(plain_manifest(1, 4, 16));
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  bench.core.store_paused({ErrorCode::kDiskFull, "write", "no space"}, bench.now);
  Standstill why = bench.core.standstill();
  CHECK(why.kind == Standstill::Kind::kStorePaused);
  CHECK(why.store_error.find("no space") != std::string::npos);
  bench.core.store_resumed(bench.now);
  bench.pass(kSecond);
  CHECK(bench.core.standstill().kind == Standstill::Kind::kSilent);
  for (std::uint32_t i = 0; i < 4; ++i) bench.say(1, bench.block(0, 1 + i, i));
  CHECK(bench.core.standstill().kind == Standstill::Kind::kDecoding);
  bench.core.generation_decoded(0, core::DecodeOutcome::kVerified, bench.now);
  CHECK(bench.core.standstill().kind == Standstill::Kind::kFinishing);
}

TEST_CASE("rows that wait for the disk hold everything up") {
  core::Options options = plain_options();
  options.memory_bytes = 1;  // room for 8 blocks
  Bench bench(plain_manifest(4, 16, 16), options);
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  for (std::uint32_t sequence = 1; sequence <= 8; ++sequence) {
    bench.pass(kSecond);
    bench.say(1, bench.block(0, sequence, sequence));
  }
  CHECK(bench.core.standstill().kind == Standstill::Kind::kStoreBehind);
  for (int i = 0; i < 8; ++i) bench.core.row_stored(bench.now);
  CHECK(bench.core.standstill().kind == Standstill::Kind::kSilent);
}

TEST_CASE("progress is what brings the download on, and nothing else") {
  Bench bench(plain_manifest(1, 4, 16));
  const TimeUs began = bench.now;
  CHECK(bench.core.progressed_at() == began);
  bench.pass(kSecond);
  bench.start();
  CHECK(bench.core.progressed_at() == bench.now);
  const TimeUs started = bench.now;
  bench.pass(kSecond);
  bench.join(1, peer_id(1), 0, true);
  bench.pass(kSecond);
  CHECK(bench.core.progressed_at() == started);
  bench.say(1, bench.block(0, 1, 0));
  const TimeUs first = bench.now;
  CHECK(bench.core.progressed_at() == first);
  bench.pass(kSecond);
  bench.say(1, bench.block(0, 2, 0));  // redundant
  CHECK(bench.core.progressed_at() == first);
}

TEST_CASE("the table of peers shows what each holds, moves and does") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.start();
  bench.connect(1, peer_id(1));
  REQUIRE(bench.core.peers().size() == 1);
  PeerStatus peer = bench.core.peers()[0];
  CHECK(peer.state == PeerStatus::State::kGreeting);
  CHECK(peer.endpoint == "192.0.2.1:4000");
  CHECK_FALSE(peer.outgoing);
  CHECK(peer.held == 0);
  proto::Hello hello;
  hello.content_id = bench.manifest.id;
  hello.has_manifest = true;
  bench.say(1, hello);
  CHECK(bench.core.peers()[0].state == PeerStatus::State::kWaiting);
  bench.say_state(1, 0, 0, {{1, 2, 0, {}}}, {{0, 1}});
  peer = bench.core.peers()[0];
  CHECK(peer.held == doctest::Approx(0.75));
  bench.pass(kSecond);
  bench.say(1, bench.block(0, 1, 0));
  bench.say(1, bench.block(0, 2, 0));
  peer = bench.core.peers()[0];
  CHECK(peer.state == PeerStatus::State::kSends);
  CHECK(peer.blocks_received == 2);
  CHECK(peer.blocks_innovative == 1);
  CHECK(peer.bytes_received > 2 * 16);
  CHECK(peer.bytes_sent > 0);
  CHECK(peer.down_rate > 0);
  bench.pass(10 * kSecond);
  peer = bench.core.peers()[0];
  CHECK(peer.state == PeerStatus::State::kSilent);
  CHECK(peer.silent_for == 10 * kSecond);
  CHECK(peer.connected_for == 11 * kSecond);
}
