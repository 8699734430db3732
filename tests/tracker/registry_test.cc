// One contract for all registries.
#include "tracker/registry.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "tests/tracker/tracker_fixture.h"
#include "tracker/registry_memory.h"
#include "tracker/registry_sqlite.h"

namespace firn::tracker::test {
namespace {

using namespace std::chrono_literals;

struct InMemory {
  explicit InMemory(const RegistryLimits& limits = {}) : registry(limits) {}
  Registry& operator*() { return registry; }
  MemoryRegistry registry;
};

struct InSqlite {
  explicit InSqlite(const RegistryLimits& limits = {})
      : registry(SqliteRegistry::open(folder.path / "t.sqlite", Time{0}, limits).value()) {}
  Registry& operator*() { return *registry; }
  TemporaryFolder folder;
  std::unique_ptr<SqliteRegistry> registry;
};

TEST_CASE_TEMPLATE("a registry does what a plain list of peers would", Kind, InMemory, InSqlite) {
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
        registry.expire(now - 40ms);
        std::erase_if(model, [&](auto& known) { return known.second.seen < now - 40ms; });
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

TEST_CASE_TEMPLATE("a snapshot counts all swarms and lists the largest", Kind, InMemory, InSqlite) {
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

TEST_CASE_TEMPLATE("limits hold, and room that is left is used again", Kind, InMemory, InSqlite) {
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

TEST_CASE_TEMPLATE("manifests come back part by part", Kind, InMemory, InSqlite) {
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

TEST_CASE_TEMPLATE("when there is no room the manifest longest unused goes", Kind, InMemory,
                   InSqlite) {
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

TEST_CASE_TEMPLATE("a network that has had its share pushes out its own manifests", Kind, InMemory,
                   InSqlite) {
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

TEST_CASE_TEMPLATE("prefixes that fill the shelf together push out their own", Kind, InMemory,
                   InSqlite) {
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

TEST_CASE_TEMPLATE("a peer is known from its announce until it leaves", Kind, InMemory, InSqlite) {
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

}  // namespace
}  // namespace firn::tracker::test
