// A sharing registry and its post: what it says to the link, and makes of what the link brings. No
// Redis is needed.
#include "tracker/redis/registry_redis.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/tracker/tracker_fixture.h"
#include "tracker/registry_memory.h"
#include "tracker/registry_sqlite.h"

namespace firn::tracker::test {
namespace {

using namespace std::chrono_literals;

constexpr Time kOpened = 1000s;
constexpr Time kLifetime = 160s;

struct Tracker {
  explicit Tracker(std::size_t peers_before = 0) : post(1) {
    auto below = std::make_unique<MemoryRegistry>();
    for (std::uint32_t i = 0; i < peers_before; ++i)
      below->announce(content(1), pack(peer(i)), kOpened);  // from its disk
    registry = std::make_unique<RedisRegistry>(std::move(below), post, 0, kOpened);
    registry->keep_for(kLifetime);
    registry->expire(kOpened - kLifetime);
  }
  void announce(std::uint32_t swarm, const Peer& one, Time at) {
    CHECK(registry->announce(content(swarm), pack(one), at) == AnnounceOutcome::kKept);
  }
  ToRedis said() {
    REQUIRE(registry->flush_some().ok());
    return post.take();
  }
  void hear(PeerChange change) {
    FromRedis letters;
    letters.peers.push_back(change);
    post.deliver(std::move(letters));
    REQUIRE(registry->flush_some().ok());
  }
  bool knows(std::uint32_t swarm, const Peer& one) const {
    const auto found = registry->find(content(swarm), one.endpoint.id);
    return found && unpack(found->peer) == one;
  }
  Post post;
  std::unique_ptr<RedisRegistry> registry;
};

PeerChange news(std::uint32_t swarm, const Peer& one, Time at) {
  return {content(swarm), pack(one), false, at};
}
PeerChange leaving(std::uint32_t swarm, std::uint32_t number, Time at) {
  PeerChange change{content(swarm), {}, true, at};
  change.peer.endpoint.id = peer_id(number);
  return change;
}

TEST_CASE("a peer is told of when it comes, changes and leaves, and otherwise once in a while") {
  Tracker tracker;
  tracker.post.connected();
  tracker.said();
  Time now = kOpened + 1s;
  tracker.announce(1, peer(1), now);
  CHECK(tracker.said().peers == std::vector{news(1, peer(1), now)});
  CHECK(tracker.said().peers.empty());
  tracker.announce(1, peer(1, true), now + 1ms);
  CHECK(tracker.said().peers == std::vector{news(1, peer(1, true), now + 1ms)});
  // Eight times in its lifetime, however often it says the same.
  std::size_t told = 0;
  for (Time passed = 100ms; passed <= kLifetime; passed += 100ms) {
    tracker.announce(1, peer(1, true), now + passed);
    told += tracker.said().peers.size();
  }
  CHECK(told == 8);
  now += kLifetime;
  tracker.registry->leave(content(1), peer_id(1));
  const auto left = tracker.said().peers;
  REQUIRE(left.size() == 1);
  CHECK(left[0] == leaving(1, 1, left[0].at));
  CHECK(left[0].at > now);
  // One that comes and goes in between has left.
  tracker.announce(1, peer(2), now);
  tracker.registry->leave(content(1), peer_id(2));
  CHECK(tracker.said().peers == std::vector{leaving(1, 2, now + 1ms)});
  tracker.registry->leave(content(1), peer_id(3));  // was never there
  CHECK(tracker.said().peers.empty());
}

TEST_CASE("the later announce holds, by whichever way it comes") {
  Tracker tracker;
  tracker.announce(1, peer(1), kOpened + 50s);
  SUBCASE("older news change nothing") {
    tracker.hear(news(1, peer(1, true), kOpened + 40s));
    CHECK(tracker.knows(1, peer(1)));
    tracker.hear(leaving(1, 1, kOpened + 40s));
    CHECK(tracker.knows(1, peer(1)));
  }
  SUBCASE("later ones do") {
    tracker.hear(news(1, peer(1, true), kOpened + 60s));
    CHECK(tracker.knows(1, peer(1, true)));
    tracker.hear(leaving(1, 1, kOpened + 70s));
    CHECK_FALSE(tracker.registry->has_peer(content(1), peer_id(1)));
  }
  SUBCASE("what left stays away, and Redis is told again") {
    tracker.registry->leave(content(1), peer_id(1));
    tracker.post.connected();
    tracker.said();
    tracker.hear(news(1, peer(1), kOpened + 40s));
    CHECK_FALSE(tracker.registry->has_peer(content(1), peer_id(1)));
    CHECK(tracker.said().peers == std::vector{leaving(1, 1, kOpened + 50s + 1ms)});
    tracker.hear(news(1, peer(1), kOpened + 55s));
    CHECK(tracker.knows(1, peer(1)));
  }
  SUBCASE("what is past its time is nothing") {
    tracker.registry->expire(kOpened);
    tracker.hear(news(1, peer(2), kOpened - 1s));
    CHECK_FALSE(tracker.registry->has_peer(content(1), peer_id(2)));
  }
}

TEST_CASE("what others say of a peer keeps it alive here") {
  Tracker tracker;
  tracker.announce(1, peer(1), kOpened + 1s);
  tracker.announce(1, peer(2), kOpened + 1s);
  tracker.hear(news(1, peer(1), kOpened + 100s));
  tracker.registry->expire(kOpened + 50s);
  CHECK(tracker.knows(1, peer(1)));
  CHECK_FALSE(tracker.registry->has_peer(content(1), peer_id(2)));
}

TEST_CASE("each connection is told everything that was heard, and nothing from disk") {
  Tracker tracker(3);
  tracker.announce(1, peer(1), kOpened + 1s);
  tracker.announce(2, peer(9), kOpened + 1s);
  tracker.registry->leave(content(1), peer_id(0));
  CHECK(tracker.said().peers.empty());  // there is no connection
  for (int connection = 0; connection < 2; ++connection) {
    tracker.post.connected();
    const auto told = tracker.said().peers;
    CHECK(told.size() == 3);
    for (const PeerChange& one : {news(1, peer(1), kOpened + 1s), news(2, peer(9), kOpened + 1s),
                                  leaving(1, 0, kOpened + 1s)})
      CHECK(std::find(told.begin(), told.end(), one) != told.end());
    CHECK(tracker.said().peers.empty());
    tracker.post.lost(true);
    CHECK(tracker.said().peers.empty());
  }
  // Any word on a peer from disk counts more.
  tracker.hear(news(1, peer(2, true), kOpened - 20s));
  CHECK(tracker.knows(1, peer(2, true)));
  Tracker other(3);
  other.hear(leaving(1, 2, kOpened - 20s));
  CHECK_FALSE(other.registry->has_peer(content(1), peer_id(2)));
}

TEST_CASE("a large registry says everything a part at a time") {
  Tracker tracker;
  constexpr std::uint32_t kPeers = 20'000;
  for (std::uint32_t i = 0; i < kPeers; ++i) tracker.announce(i / 100, peer(i), kOpened + 1s);
  tracker.said();
  tracker.post.connected();
  std::set<PeerId> told;
  for (int turn = 0; told.size() < kPeers; ++turn) {
    REQUIRE(turn < 10);
    const auto some = tracker.said().peers;
    CHECK(some.size() <= 5000 + 100);
    for (const PeerChange& one : some) told.insert(one.peer.endpoint.id);
  }
}

TEST_CASE("a link that takes nothing bounds what waits, and loses nothing") {
  Tracker tracker;
  tracker.post.connected();
  tracker.said();
  constexpr std::uint32_t kPeers = 230'000;  // more than are kept as changed, or in the post
  for (std::uint32_t i = 0; i < kPeers; ++i) tracker.announce(i % 1000, peer(i), kOpened + 1s);
  for (int turn = 0; turn < 100; ++turn) REQUIRE(tracker.registry->flush_some().ok());
  CHECK(tracker.post.room_for_peers(0) == 0);
  std::set<PeerId> told;
  for (int turn = 0; told.size() < kPeers; ++turn) {
    REQUIRE(turn < 200);
    const auto some = tracker.said().peers;
    REQUIRE(some.size() < 200'000 + 5000 + 1000);
    for (const PeerChange& one : some) told.insert(one.peer.endpoint.id);
  }
}

TEST_CASE("of those that left some are remembered, not all") {
  Tracker tracker;
  constexpr std::uint32_t kPeers = 130'000;
  for (std::uint32_t i = 0; i < kPeers; ++i) {
    tracker.announce(1, peer(i), kOpened + 1s);
    tracker.registry->leave(content(1), peer_id(i));
  }
  tracker.post.connected();
  std::size_t told = 0;
  for (std::size_t some = 1; some > 0; told += some) some = tracker.said().peers.size();
  CHECK(told == 100'000);
  // And until their time is over.
  tracker.registry->expire(kOpened + 10s);
  tracker.post.lost(true);
  tracker.said();
  tracker.post.connected();
  CHECK(tracker.said().peers.empty());
}

TEST_CASE("manifests are shared when they come, where others lack them, and asked for") {
  Tracker tracker;
  tracker.post.connected();
  tracker.said();
  const Manifest whole = manifest(10);
  tracker.registry->announce(whole.id, pack(peer(1)), kOpened + 1s);
  CHECK(tracker.said().wanted == std::vector{whole.id});  // a content that is new here
  tracker.registry->announce(whole.id, pack(peer(2)), kOpened + 1s);
  CHECK(tracker.said().wanted.empty());
  SUBCASE("one that was put") {
    REQUIRE(tracker.registry->put_manifest(whole.id, "net", whole.file_bytes).ok());
    REQUIRE(tracker.registry->put_manifest(whole.id, "net", whole.file_bytes).ok());
    auto said = tracker.said();
    REQUIRE(said.manifests.size() == 1);
    CHECK(said.manifests[0].bytes == whole.file_bytes);
    CHECK(said.manifests[0].prefix == "net");
    CHECK(tracker.said().manifests.empty());
    FromRedis letters;
    letters.missing = {whole.id, content(5)};
    tracker.post.deliver(std::move(letters));
    CHECK(tracker.said().manifests.size() == 1);
    CHECK(tracker.said().manifests.empty());  // content 5 has gone
    // Once an hour, and with each connection, Redis is told that it is held.
    CHECK(tracker.said().held.empty());
    tracker.registry->expire(kOpened + 3700s - kLifetime);
    CHECK(tracker.said().held == std::vector{whole.id});
    tracker.post.connected();
    CHECK(tracker.said().held == std::vector{whole.id});
  }
  SUBCASE("one that another has") {
    FromRedis letters;
    letters.offered = {whole.id, content(7)};  // nobody here shares content 7
    tracker.post.deliver(std::move(letters));
    CHECK(tracker.said().wanted == std::vector{whole.id});
    letters = {};
    letters.manifests.push_back({whole.id, "net", whole.file_bytes});
    tracker.post.deliver(std::move(letters));
    CHECK(tracker.said().manifests.empty());  // Redis has it
    CHECK(tracker.registry->has_manifest(whole.id));
    CHECK(tracker.registry->hosted(whole.id)->prefix == "net");
    letters = {};
    letters.offered = {whole.id};
    tracker.post.deliver(std::move(letters));
    CHECK(tracker.said().wanted.empty());
  }
}

TEST_CASE("a manifest that another shard makes room with before it is shared is not shared") {
  const TemporaryFolder folder;
  const Manifest first = manifest(10, "first");
  const std::size_t shard = shard_of(first.id, 2), other = 1 - shard;
  const RegistryLimits limits{.manifest_bytes_total_max = first.file_bytes.size()};
  auto shards = SqliteRegistry::open_shards(folder.path / "t.sqlite", kOpened, limits, 2).value();
  Post post(2);
  RedisRegistry registry(std::move(shards[shard]), post, shard, kOpened);
  post.connected();
  REQUIRE(registry.put_manifest(first.id, "net 1", first.file_bytes).ok());
  ContentId second;
  second.bytes[8] = static_cast<std::uint8_t>(other);
  REQUIRE(shards[other]->put_manifest(second, "net 2", first.file_bytes).ok());
  REQUIRE(registry.flush_some().ok());
  CHECK(post.take().manifests.empty());
  CHECK_FALSE(registry.has_manifest(first.id));
}

TEST_CASE("each shard gets its own contents") {
  constexpr std::size_t kShards = 3;
  Post post(kShards);
  FromRedis letters;
  for (std::uint32_t i = 0; i < 60; ++i) {
    letters.peers.push_back(news(i, peer(i), kOpened));
    letters.offered.push_back(content(i));
  }
  post.deliver(std::move(letters));
  std::size_t count = 0;
  for (std::size_t shard = 0; shard < kShards; ++shard) {
    CHECK(post.collect(shard, 0).peers.empty());
    const FromRedis own = post.collect(shard, 100);
    for (const PeerChange& one : own.peers) CHECK(shard_of(one.content, kShards) == shard);
    CHECK(own.offered.size() == own.peers.size());
    count += own.peers.size();
  }
  CHECK(count == 60);
}

TEST_CASE("while much waits for the registries nothing more is read") {
  Post post(1);
  CHECK(post.room());
  FromRedis letters;
  letters.peers.resize(200'000);
  post.deliver(std::move(letters));
  CHECK_FALSE(post.room());
  post.collect(0, 1000);
  CHECK(post.room());
  letters = {};
  letters.manifests.push_back({content(1), "net", "bytes"});
  post.deliver(std::move(letters));
  CHECK_FALSE(post.room());
  CHECK(post.collect(0, 0).manifests.size() == 1);
  CHECK(post.room());
}

TEST_CASE("a snapshot says how the link stands") {
  Tracker tracker;
  Snapshot snapshot;
  tracker.registry->describe(snapshot);
  CHECK(snapshot.redis.used);
  CHECK_FALSE(snapshot.redis.connected);
  tracker.post.connected();
  tracker.post.answered(kOpened - 5s, 3);
  snapshot = {};
  tracker.registry->describe(snapshot);
  CHECK(snapshot.redis.connected);
  CHECK(snapshot.redis.rejected_count == 3);
  CHECK(snapshot.redis.lag_ms == 5000);
  tracker.post.lost(true);
  tracker.post.lost(false);
  CHECK(tracker.post.state(kOpened).lost_count == 1);
}

}  // namespace
}  // namespace firn::tracker::test
