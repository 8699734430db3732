// One contract for all registries. A test file names its kinds of registries, which are made with
// RegistryLimits and are dereferenced to a Registry, and says whether it lacks what they need:
//
//   const bool kLacksKinds = false;
//   #include "tests/tracker/registry_contract.h"
//   FIRN_REGISTRY_CONTRACT(InMemory, InSqlite)
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tests/tracker/tracker_fixture.h"
#include "tracker/registry.h"

namespace firn::tracker::test {
namespace {

TEST_CASE_TEMPLATE_DEFINE("a registry does what a plain list of peers would" *
                              doctest::skip(kLacksKinds),
                          Kind, like_a_list) {
  Kind kind;
  Registry& registry = *kind;
  struct Known {
    Peer peer;
    Time seen;
  };
  std::map<std::pair<ContentId, PeerId>, Known> model;
  std::mt19937_64 random(11);
  Time now{0};
  for (int step = 0; step < 3000; ++step) {
    now += Time(static_cast<Time::rep>(random() % 3));
    const ContentId swarm = content(static_cast<std::uint32_t>(random() % 3));
    Peer one = peer(static_cast<std::uint32_t>(random() % 20), random() % 2 == 0);
    if (random() % 5 == 0) one.endpoint.port = 0;
    switch (random() % 8) {
      case 0:
        registry.leave(swarm, one.endpoint.id);
        model.erase({swarm, one.endpoint.id});
        break;
      case 1:
        registry.expire(now - Time(40));
        std::erase_if(model, [&](auto& known) { return known.second.seen < now - Time(40); });
        break;
      case 2:
        REQUIRE(registry.flush().ok());
        break;
      default:
        REQUIRE(registry.announce(swarm, one, now) == AnnounceOutcome::kKept);
        model[{swarm, one.endpoint.id}] = {one, now};
    }
    SwarmCounts counts;
    std::set<PeerId> all;
    std::set<PeerId> incomplete;
    for (const auto& [key, known] : model) {
      if (key.first != swarm) continue;
      ++(known.peer.complete ? counts.complete : counts.incomplete);
      if (known.peer.endpoint.port == 0 || key.second == peer_id(3)) continue;
      all.insert(key.second);
      if (!known.peer.complete) incomplete.insert(key.second);
    }
    REQUIRE(registry.counts(swarm) == counts);
    for (const bool complete_too : {false, true}) {
      std::set<PeerId> drawn;
      for (const auto& endpoint :
           registry.sample(swarm, {peer_id(3), 1000, complete_too}, random)) {
        REQUIRE(endpoint == model.at({swarm, endpoint.id}).peer.endpoint);
        REQUIRE(drawn.insert(endpoint.id).second);
      }
      REQUIRE(drawn == (complete_too ? all : incomplete));
    }
  }
}

TEST_CASE_TEMPLATE_DEFINE("a snapshot counts all swarms and lists the largest" *
                              doctest::skip(kLacksKinds),
                          Kind, snapshot) {
  Kind kind;
  Registry& registry = *kind;
  constexpr std::uint32_t kSwarms = Snapshot::kSwarmsMax + 50;
  for (std::uint32_t i = 0; i < kSwarms; ++i) registry.announce(content(i), peer(i), Time{1});
  for (std::uint32_t i = 0; i < 3; ++i)
    registry.announce(content(77), peer(1000 + i, true), Time{2});
  registry.announce(content(78), peer(1001), Time{2});
  Snapshot snapshot;
  (*kind).describe(snapshot);
  CHECK(snapshot.swarm_count == kSwarms);
  CHECK(snapshot.complete_count == 3);
  CHECK(snapshot.incomplete_count == kSwarms + 1);
  REQUIRE(snapshot.largest.size() == Snapshot::kSwarmsMax);
  CHECK(snapshot.largest[0].content == content(77));
  CHECK(snapshot.largest[0].complete == 3);
  CHECK(snapshot.largest[0].incomplete == 1);
  CHECK(snapshot.largest[1].content == content(78));
}

TEST_CASE_TEMPLATE_DEFINE("limits hold, and room that is left is used again" *
                              doctest::skip(kLacksKinds),
                          Kind, limits) {
  Kind kind({.content_count_max = 2, .peer_count_max = 5, .peers_per_content_max = 3});
  Registry& registry = *kind;
  for (std::uint32_t number = 1; number <= 3; ++number)
    CHECK(registry.announce(content(1), peer(number), Time{0}) == AnnounceOutcome::kKept);
  CHECK(registry.announce(content(1), peer(4), Time{0}) == AnnounceOutcome::kSwarmFull);
  CHECK(registry.announce(content(1), peer(1, true), Time{5}) == AnnounceOutcome::kKept);
  CHECK(registry.announce(content(2), peer(1), Time{0}) == AnnounceOutcome::kKept);
  CHECK(registry.announce(content(3), peer(1), Time{0}) == AnnounceOutcome::kTrackerFull);
  CHECK(registry.announce(content(2), peer(2), Time{0}) == AnnounceOutcome::kKept);
  CHECK(registry.announce(content(2), peer(3), Time{0}) == AnnounceOutcome::kTrackerFull);
  CHECK(registry.counts(content(1)) == SwarmCounts{1, 2});
  registry.leave(content(2), peer_id(1));
  registry.leave(content(2), peer_id(2));
  CHECK(registry.announce(content(3), peer(1), Time{0}) == AnnounceOutcome::kKept);
}

TEST_CASE_TEMPLATE_DEFINE("manifests come back part by part" * doctest::skip(kLacksKinds), Kind,
                          manifest_parts) {
  Kind kind;
  Registry& registry = *kind;
  std::string bytes(1000, '\0');
  std::mt19937_64 random(12);
  for (char& byte : bytes) byte = static_cast<char>(random());
  CHECK_FALSE(registry.has_manifest(content(1)));
  CHECK(registry.manifest_part(content(1), 0, 100).value().total_bytes == 0);
  REQUIRE(registry.put_manifest(content(1), "net", bytes).ok());
  CHECK(registry.has_manifest(content(1)));
  REQUIRE(registry.put_manifest(content(1), "net", bytes).ok());  // again: nothing happens
  for (const std::uint64_t offset : {0u, 1u, 999u, 1000u, 5000u}) {
    const auto part = registry.manifest_part(content(1), offset, 300).value();
    CHECK(part.total_bytes == 1000);
    CHECK(part.offset == std::min<std::uint64_t>(offset, 1000));
    CHECK(part.data == bytes.substr(part.offset, 300));
  }
  REQUIRE(registry.remove_manifest(content(1)).ok());
  CHECK_FALSE(registry.has_manifest(content(1)));
  REQUIRE(registry.remove_manifest(content(1)).ok());  // nothing is there
  REQUIRE(registry.put_manifest(content(1), "net", "another signature").ok());
  CHECK(registry.manifest_part(content(1), 0, 100)->data == "another signature");
}

TEST_CASE_TEMPLATE_DEFINE("when there is no room the manifest longest unused goes" *
                              doctest::skip(kLacksKinds),
                          Kind, manifest_room) {
  Kind kind({.manifest_count_max = 3, .manifest_bytes_total_max = 1000});
  Registry& registry = *kind;
  const auto put = [&](std::uint32_t number, std::size_t bytes) {
    return registry.put_manifest(content(number), "net " + std::to_string(number),
                                 std::string(bytes, 'm'));
  };
  CHECK(put(1, 1001).error().code == ErrorCode::kBadInput);
  REQUIRE(put(1, 400).ok());
  REQUIRE(put(2, 400).ok());
  CHECK(registry.manifest_part(content(1), 0, 1).ok());  // used
  REQUIRE(put(3, 300).ok());                             // no room for all three
  CHECK(registry.has_manifest(content(1)));
  CHECK_FALSE(registry.has_manifest(content(2)));
  CHECK(registry.has_manifest(content(3)));
  REQUIRE(put(4, 10).ok());
  REQUIRE(put(5, 10).ok());  // more than three
  CHECK_FALSE(registry.has_manifest(content(1)));
  REQUIRE(put(6, 1000).ok());  // all the room
  for (std::uint32_t number : {3, 4, 5}) CHECK_FALSE(registry.has_manifest(content(number)));
  CHECK(registry.manifest_part(content(6), 990, 100).value().data == std::string(10, 'm'));
}

TEST_CASE_TEMPLATE_DEFINE("a network that has had its share pushes out its own manifests" *
                              doctest::skip(kLacksKinds),
                          Kind, manifest_share) {
  Kind kind({.manifest_count_max = 12, .manifest_bytes_total_max = 1200, .manifest_shares = 4});
  Registry& registry = *kind;
  const auto put = [&](std::uint32_t number, const char* network, std::size_t bytes) {
    REQUIRE(registry.put_manifest(content(number), network, std::string(bytes, 'm')).ok());
  };
  put(1, "other", 300);
  put(2, "flood", 100);
  put(3, "flood", 100);
  SUBCASE("by bytes") {
    put(4, "flood", 100);
    REQUIRE(registry.manifest_part(content(2), 0, 1).ok());  // used
    put(5, "flood", 1);
    CHECK(registry.has_manifest(content(2)));
    CHECK_FALSE(registry.has_manifest(content(3)));
    CHECK(registry.has_manifest(content(4)));
    put(6, "flood", 400);  // more than the share, but it is one
    for (std::uint32_t number : {2, 4, 5}) CHECK_FALSE(registry.has_manifest(content(number)));
    CHECK(registry.has_manifest(content(6)));
  }
  SUBCASE("by number") {
    put(4, "flood", 1);
    put(5, "flood", 1);  // a fourth
    CHECK_FALSE(registry.has_manifest(content(2)));
    for (std::uint32_t number : {3, 4, 5}) CHECK(registry.has_manifest(content(number)));
  }
  SUBCASE("however long") {
    for (std::uint32_t number = 10; number < 200; ++number) put(number, "flood", 150);
    CHECK(registry.has_manifest(content(198)));
    CHECK(registry.has_manifest(content(199)));
  }
  CHECK(registry.has_manifest(content(1)));
}

TEST_CASE_TEMPLATE_DEFINE("prefixes that fill the shelf together push out their own" *
                              doctest::skip(kLacksKinds),
                          Kind, prefixes_together) {
  Kind kind({.manifest_count_max = 1000, .manifest_bytes_total_max = 4000, .manifest_shares = 4});
  Registry& registry = *kind;
  const auto put = [&](std::uint32_t number, const std::string& prefix, std::size_t bytes) {
    REQUIRE(registry.put_manifest(content(number), prefix, std::string(bytes, 'm')).ok());
  };
  for (std::uint32_t number = 1; number <= 5; ++number)
    put(number, "honest " + std::to_string(number), 100);
  for (std::uint32_t number = 100; number < 400; ++number)
    put(number, "flood " + std::to_string(number % 8), 100);
  for (std::uint32_t number = 6; number <= 10; ++number)
    put(number, "honest " + std::to_string(number), 100);
  for (std::uint32_t number = 1; number <= 10; ++number)
    CHECK(registry.has_manifest(content(number)));
  // One that is larger than any share finds room all the same: the longest unused go.
  put(50, "large", 3500);
  CHECK(registry.has_manifest(content(50)));
}

TEST_CASE_TEMPLATE_DEFINE("a peer is known from its announce until it leaves" *
                              doctest::skip(kLacksKinds),
                          Kind, peer_known) {
  Kind kind;
  Registry& registry = *kind;
  CHECK_FALSE(registry.has_peer(content(1), peer_id(1)));
  registry.announce(content(1), peer(1), Time{0});
  CHECK(registry.has_peer(content(1), peer_id(1)));
  CHECK_FALSE(registry.has_peer(content(2), peer_id(1)));
  CHECK_FALSE(registry.has_peer(content(1), peer_id(2)));
  registry.leave(content(1), peer_id(1));
  CHECK_FALSE(registry.has_peer(content(1), peer_id(1)));
}

TEST_CASE_TEMPLATE_DEFINE("a registry names what it keeps" * doctest::skip(kLacksKinds), Kind,
                          names_all) {
  Kind kind;
  Registry& registry = *kind;
  CHECK(registry.contents().empty());
  registry.announce(content(1), peer(1), Time{10});
  registry.announce(content(1), peer(2, true), Time{20});
  registry.announce(content(1), peer(1), Time{30});
  registry.announce(content(2), peer(3), Time{40});
  registry.leave(content(2), peer_id(3));
  CHECK(registry.contents() == std::vector{content(1)});
  std::map<PeerId, std::pair<Peer, Time>> peers;
  registry.for_each_peer(content(1), [&](const SeenPeer& one) {
    peers[one.peer.endpoint.id] = {unpack(one.peer), one.seen};
  });
  CHECK(peers.size() == 2);
  CHECK(peers[peer_id(1)] == std::pair(peer(1), Time{30}));
  CHECK(peers[peer_id(2)] == std::pair(peer(2, true), Time{20}));
  CHECK(registry.find(content(1), peer_id(1))->seen == Time{30});
  registry.for_each_peer(content(2), [](const SeenPeer&) { FAIL("it has no peers"); });
  REQUIRE(registry.put_manifest(content(3), "net", "bytes").ok());
  CHECK(registry.hosted_manifests() == std::vector{Envelope(content(3))});
  CHECK(registry.hosted(content(3))->prefix == "net");
  CHECK_FALSE(registry.hosted(content(1)));
  CHECK(registry.hosted(content(3))->bytes == 5);
}

#define FIRN_REGISTRY_CONTRACT(...)                          \
  TEST_CASE_TEMPLATE_INVOKE(like_a_list, __VA_ARGS__);       \
  TEST_CASE_TEMPLATE_INVOKE(snapshot, __VA_ARGS__);          \
  TEST_CASE_TEMPLATE_INVOKE(limits, __VA_ARGS__);            \
  TEST_CASE_TEMPLATE_INVOKE(manifest_parts, __VA_ARGS__);    \
  TEST_CASE_TEMPLATE_INVOKE(manifest_room, __VA_ARGS__);     \
  TEST_CASE_TEMPLATE_INVOKE(manifest_share, __VA_ARGS__);    \
  TEST_CASE_TEMPLATE_INVOKE(prefixes_together, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(peer_known, __VA_ARGS__);        \
  TEST_CASE_TEMPLATE_INVOKE(names_all, __VA_ARGS__);

}  // namespace
}  // namespace firn::tracker::test
