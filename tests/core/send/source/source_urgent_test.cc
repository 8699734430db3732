// What neighbours read now comes first at a source.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/core/send/choice/scene.h"

using namespace firn;
using namespace firn::test;
using core::policy::SourcePolicy;

namespace {

constexpr std::uint32_t kSourceBlocks = 4;

struct Audience : Scene {
  explicit Audience(std::uint32_t peers, std::uint32_t generations = 100)
      : Scene(generations, kSourceBlocks, peers, true), source(holdings.shape(), false) {}
  Choice next() {
    const auto choice = choose(source, true);
    REQUIRE(choice);
    send(*choice);
    source.served(*choice, now);
    return *choice;
  }
  std::map<core::PeerKey, int> serve(int blocks) {
    std::map<core::PeerKey, int> sent;
    for (int i = 0; i < blocks; ++i) ++sent[next().peer];
    return sent;
  }
  // Two generations of its own.
  void read(core::PeerKey peer, std::uint32_t urgency = proto::kAwaited) {
    const auto g = static_cast<std::uint32_t>(60 + 2 * peer);
    tell(peer, {reads(g, urgency), reads(g + 1, urgency)});
  }
  SourcePolicy source;
};

}  // namespace

TEST_CASE("a source gives what somebody reads before the next of its pass, and all once") {
  constexpr std::uint32_t kFew = 10;
  Audience s(2, kFew);
  // Both read the same, which is given once too.
  for (const core::PeerKey peer : {1u, 2u}) s.tell(peer, {reads(7, proto::kReadSoon)});
  std::set<std::pair<std::uint32_t, std::uint32_t>> sent;
  for (std::uint32_t i = 0; i < kFew * kSourceBlocks; ++i) {
    const Choice choice = s.next();
    REQUIRE(choice.source_index);
    CHECK((choice.generation == 7) == (i < kSourceBlocks));
    CHECK(sent.emplace(choice.generation, *choice.source_index).second);
  }
}

TEST_CASE("once a source has given everything it gives first what somebody reads") {
  Audience s(1, 10);
  s.serve(10 * kSourceBlocks);
  std::vector<proto::GenerationState> lacking;
  for (std::uint32_t g = 0; g < 10; ++g) lacking.push_back({g, 1, 4, {}});
  lacking[7].urgency = proto::kReadSoon;
  s.tell(1, lacking, {}, 10 * kSourceBlocks);
  for (std::uint32_t i = 1; i < kSourceBlocks; ++i) CHECK(s.next().generation == 7);
  CHECK(s.next().generation != 7);
}

TEST_CASE("while at most half of its neighbours await what nobody has a source serves them alone") {
  for (const std::uint32_t readers : {1u, 2u, 3u, 4u}) {
    CAPTURE(readers);
    Audience s(4);
    s.serve(40);
    for (core::PeerKey peer = 1; peer <= readers; ++peer) s.read(peer);
    std::map<core::PeerKey, int> sent = s.serve(8);
    int to_readers = 0;
    for (core::PeerKey peer = 1; peer <= readers; ++peer) to_readers += sent[peer];
    CHECK((to_readers == 8) == (readers != 3));
    if (readers == 3) CHECK(sent[4] == 2);
  }
}

TEST_CASE("a source serves in turn who reads soon, who has been given all, and who reads no more") {
  const auto equal = std::map<core::PeerKey, int>{{1, 2}, {2, 2}, {3, 2}, {4, 2}};
  Audience soon(4);
  soon.serve(40);
  soon.read(1, proto::kReadSoon);
  CHECK(soon.serve(8) == equal);

  Audience given(4);
  given.serve(40);
  given.read(1);
  CHECK(given.serve(8)[1] == 8);  // all that it awaits
  CHECK(given.serve(12)[1] < 12);

  Audience no_more(4);
  no_more.serve(40);
  no_more.read(1);
  no_more.read(1, proto::kNotUrgent);
  CHECK(no_more.serve(8) == equal);

  Audience has_it(4);
  has_it.serve(40);
  has_it.read(1);
  has_it.tell(1, {}, {{62, 2}});
  CHECK(has_it.serve(8) == equal);

  Audience unwanted(4);
  unwanted.serve(40);
  proto::State state;
  state.credit = 100'000;
  state.unwanted = {{62, 2}};
  state.generations = {reads(62), reads(63)};
  for (proto::GenerationState& one : state.generations) one.quota = 0;
  REQUIRE(unwanted.peer(1).apply_state(std::move(state)));
  CHECK(unwanted.serve(8) == equal);
}

TEST_CASE("a source that one awaits something of keeps no other connection busy") {
  const auto blocks = [](Fixture& fixture, PeerKey peer) {
    return std::ranges::count_if(fixture.actions, [&](const core::Action& action) {
      const auto* send = std::get_if<core::SendBlock>(&action);
      return send && send->peer == peer;
    });
  };
  for (const bool awaits : {false, true}) {
    CAPTURE(awaits);
    Fixture fixture(plain_manifest(20, kSourceBlocks, 16));
    fixture.start(true);
    fixture.open(1, peer_id(1));
    fixture.say_state(1, 0, 1000, {reads(10, awaits ? proto::kAwaited : proto::kReadSoon)});
    CHECK(blocks(fixture, 1) == 1);
    fixture.join(2, peer_id(2), 1000);
    CHECK(blocks(fixture, 2) == (awaits ? 0 : 1));
    // More wait in the socket of the one, until it has been given all that it awaits.
    fixture.pass(kMillisecond);
    CHECK((blocks(fixture, 1) > 1) == awaits);
  }
}
