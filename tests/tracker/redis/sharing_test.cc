// Registries of several trackers on one Redis server.
#include <sys/socket.h>
#include <sys/un.h>

#include "proto/base/unique_fd.h"
#include "tests/tracker/redis/shared_registry.h"
#include "tracker/redis/records.h"

namespace firn::tracker::test {
namespace {

const bool kLacks = lacks_redis();

bool knows(Shared& tracker, std::uint32_t swarm, const Peer& one) {
  const auto found = tracker->find(content(swarm), one.endpoint.id);
  return found && unpack(found->peer) == one;
}

// Both take turns until it holds.
template <typename Holds>
bool wait_for_both(Shared& a, Shared& b, const Holds& holds) {
  return a.wait([&] {
    b.turn();
    return holds();
  });
}

TEST_CASE("what a peer says to one tracker the other serves" * doctest::skip(kLacks)) {
  RedisServer server;
  Shared a(server.options()), b(server.options());
  REQUIRE(a.wait_until_it_stands());
  REQUIRE(b.wait_until_it_stands());
  a.announce(1, peer(1));
  b.announce(1, peer(2, true));
  Peer six = peer(3);
  six.endpoint.ip = "2001:db8::3";
  b.announce(2, six);
  CHECK(wait_for_both(a, b, [&] {
    return knows(a, 1, peer(2, true)) && knows(b, 1, peer(1)) && knows(a, 2, six);
  }));
  SUBCASE("also that it is complete now") {
    b.announce(1, peer(1, true));
    CHECK(wait_for_both(a, b, [&] { return knows(a, 1, peer(1, true)); }));
  }
  SUBCASE("also that it leaves") {
    b.leave(1, 1);
    CHECK(wait_for_both(a, b, [&] { return !a->has_peer(content(1), peer_id(1)); }));
    CHECK(a->counts(content(1)) == SwarmCounts{1, 0});
    a.announce(1, peer(1));  // and comes again
    CHECK(wait_for_both(a, b, [&] { return knows(b, 1, peer(1)); }));
  }
}

TEST_CASE("a tracker that comes later learns all that is there" * doctest::skip(kLacks)) {
  RedisServer server;
  auto a = std::make_unique<Shared>(server.options());
  REQUIRE(a->wait_until_it_stands());
  constexpr std::uint32_t kPeers = 3000;  // of one content more than one page
  for (std::uint32_t i = 0; i < kPeers; ++i) a->announce(i % 3 == 0 ? 1000 + i : 1, peer(i));
  a->leave(1, 1);
  a->turn();
  a.reset();  // its last words are sent
  Shared b(server.options());
  CHECK(b.wait([&] { return b->counts(content(1)).incomplete == 1999; }));
  CHECK(b.wait([&] { return b->contents().size() == 1001; }));
  CHECK_FALSE(b->has_peer(content(1), peer_id(1)));
  for (std::uint32_t i = 3; i < kPeers; ++i) REQUIRE(knows(b, i % 3 == 0 ? 1000 + i : 1, peer(i)));
}

TEST_CASE("while Redis is away trackers answer, and agree once it is back" *
          doctest::skip(kLacks)) {
  RedisServer server;
  Shared a(server.options()), b(server.options());
  REQUIRE(a.wait_until_it_stands());
  REQUIRE(b.wait_until_it_stands());
  a.announce(1, peer(1));
  a.announce(1, peer(9));
  REQUIRE(wait_for_both(a, b, [&] { return knows(b, 1, peer(1)) && knows(b, 1, peer(9)); }));
  server.kill();
  REQUIRE(a.wait_until_it_says("serving alone"));
  REQUIRE(b.wait_until_it_says("serving alone"));
  CHECK_FALSE(a.state().connected);
  CHECK(a.announce(1, peer(2)) == AnnounceOutcome::kKept);
  CHECK(b.announce(2, peer(3)) == AnnounceOutcome::kKept);
  b.leave(1, 9);
  a.turn();
  b.turn();
  CHECK(knows(a, 1, peer(2)));
  server.start();  // with nothing of what it knew
  CHECK(wait_for_both(a, b, [&] {
    return knows(b, 1, peer(2)) && knows(a, 2, peer(3)) && !a->has_peer(content(1), peer_id(9)) &&
           !b->has_peer(content(1), peer_id(9)) && knows(b, 1, peer(1));
  }));
  REQUIRE(a.wait_until_it_stands(2));
  CHECK(a.said_count("serving alone") == 1);  // once, however often it was tried
  CHECK(a.state().connected);
  CHECK(a.state().lost_count == 1);
  // Redis holds everything again. In the stream what a said of a peer may stand behind that it
  // left.
  Shared c(server.options());
  CHECK(c.wait([&] {
    return knows(c, 1, peer(1)) && knows(c, 1, peer(2)) && knows(c, 2, peer(3)) &&
           !c->has_peer(content(1), peer_id(9));
  }));
}

TEST_CASE("a peer that left is not brought back by a tracker that was away" *
          doctest::skip(kLacks)) {
  RedisServer server;
  Shared a(server.options()), b(server.options());
  a.announce(1, peer(1));
  a.announce(1, peer(2));
  REQUIRE(wait_for_both(a, b, [&] { return knows(b, 1, peer(1)) && knows(b, 1, peer(2)); }));
  b.leave(1, 1);
  REQUIRE(b.wait([&] {
    return server.ask({"HLEN", Keys("firn:").peers(content(1))}).integer == 1;
  }));
  // One that says what was, from before the peer left: later than that nothing was heard of it.
  Shared c(server.options());
  c->announce(content(1), pack(peer(1)), steady_now() - std::chrono::seconds(30));
  REQUIRE(c.wait([&] { return !c->has_peer(content(1), peer_id(1)) && knows(c, 1, peer(2)); }));
  a.turn();
  b.turn();
  CHECK_FALSE(b->has_peer(content(1), peer_id(1)));
  CHECK(server.ask({"HLEN", Keys("firn:").peers(content(1))}).integer == 1);
}

TEST_CASE("manifests go to the trackers of the swarm, large ones in parts" *
          doctest::skip(kLacks)) {
  RedisServer server;
  Shared a(server.options()), b(server.options());
  const Manifest whole = manifest(100'000);
  REQUIRE(whole.file_bytes.size() > 2 * kManifestShareBytes);
  const auto of = [&](Shared& tracker) {
    std::string bytes;
    for (;;) {
      const auto part = tracker->manifest_part(whole.id, bytes.size(), 1 << 20).value();
      bytes += part.data;
      if (bytes.size() >= part.total_bytes) return bytes;
    }
  };
  const auto announce = [&](Shared& tracker, std::uint32_t number) {
    tracker->announce(whole.id, pack(peer(number)), steady_now());
  };
  announce(a, 1);
  REQUIRE(a->put_manifest(whole.id, "net", whole.file_bytes).ok());
  SUBCASE("that know the swarm already") {
    CHECK(wait_for_both(a, b, [&] { return b->has_manifest(whole.id); }));
    CHECK(of(b) == whole.file_bytes);
    CHECK(b->hosted(whole.id)->prefix == "net");
  }
  SUBCASE("and that come to know it") {
    const std::string key = Keys("firn:").manifest(whole.id);
    REQUIRE(a.wait([&] { return server.ask({"HEXISTS", key, "size"}).integer == 1; }));
    server.ask({"DEL", Keys("firn:").seen(whole.id)});
    Shared c(server.options());
    REQUIRE(c.wait_until_it_stands());
    announce(c, 2);
    CHECK(c.wait([&] { return c->has_manifest(whole.id); }));
  }
  SUBCASE("also where Redis has lost it") {
    REQUIRE(wait_for_both(a, b, [&] { return b->has_manifest(whole.id); }));
    server.kill();
    server.start();
    const std::string key = Keys("firn:").manifest(whole.id);
    REQUIRE(a.wait_until_it_stands(2));
    CHECK(a.wait([&] { return server.ask({"HEXISTS", key, "size"}).integer == 1; }));
  }
  SUBCASE("also where a tracker that wrote it ended halfway") {
    const std::string key = Keys("firn:").manifest(whole.id);
    REQUIRE(a.wait([&] { return server.ask({"HEXISTS", key, "size"}).integer == 1; }));
    server.ask({"HDEL", key, "size", "1"});
    server.ask({"CLIENT", "KILL", "TYPE", "normal"});  // a tells anew what it has
    CHECK(a.wait([&] { return server.ask({"HEXISTS", key, "size"}).integer == 1; }));
    CHECK(server.ask({"HEXISTS", key, "1"}).integer == 1);
  }
}

TEST_CASE("everything that is kept in Redis ends by itself" * doctest::skip(kLacks)) {
  RedisServer server;
  Shared a(server.options());
  const Manifest whole = manifest(10);
  a->announce(whole.id, pack(peer(1)), steady_now());
  REQUIRE(a->put_manifest(whole.id, "net", whole.file_bytes).ok());
  const std::string key = Keys("firn:").manifest(whole.id);
  REQUIRE(a.wait([&] { return server.ask({"HEXISTS", key, "size"}).integer == 1; }));
  REQUIRE(a.wait([&] { return server.ask({"DBSIZE"}).integer == 4; }));
  for (const Reply& key : server.ask({"KEYS", "*"}).list) {
    CAPTURE(key.text);
    CHECK(server.ask({"PTTL", key.text}).integer > 0);
  }
}

// Redis gives entries names that only grow, whatever its clock says.
TEST_CASE("changes do not pile up in a Redis whose clock was set back" * doctest::skip(kLacks)) {
  RedisServer server;
  const std::string changes = Keys("firn:").changes();
  const char* const fill =
      "for i = 1, 12000 do redis.call('XADD', KEYS[1], '9999999999999-' .. i, 'from', 'x', "
      "'peers', '', 'offers', '') end";
  server.ask({"EVAL", fill, "1", changes});
  Shared a(server.options()), b(server.options());
  REQUIRE(a.wait_until_it_stands());
  REQUIRE(b.wait_until_it_stands());
  a.announce(1, peer(1));
  CHECK(wait_for_both(a, b, [&] { return knows(b, 1, peer(1)); }));
  CHECK(server.ask({"XLEN", changes}).integer < 6000);
}

TEST_CASE("a tracker that has missed entries reads all that is there" * doctest::skip(kLacks)) {
  RedisServer server;
  const Keys keys("firn:");
  Shared a(server.options());
  REQUIRE(a.wait_until_it_stands());
  // Peers that stand in Redis, and none is told of: the entries about them have gone.
  server.ask({"ZADD", keys.seen(content(1)), server.ask({"TIME"}).list[0].text + "000",
              std::string(peer_id(1).raw())});
  server.ask(
      {"HSET", keys.peers(content(1)), std::string(peer_id(1).raw()), peer_record(pack(peer(1)))});
  const char* const miss =
      "redis.call('DEL', KEYS[1]) for i = 1, 200 do redis.call('XADD', KEYS[1], "
      "'9999999999999-' .. i, 'from', 'x', 'peers', '', 'offers', '') end";
  server.ask({"EVAL", miss, "1", keys.changes()});
  CHECK(a.wait([&] { return knows(a, 1, peer(1)); }));
}

TEST_CASE("what other programs write is passed over" * doctest::skip(kLacks)) {
  RedisServer server;
  const Keys keys("firn:");
  const auto id = [](std::uint32_t number) { return std::string(peer_id(number).raw()); };
  server.ask({"SET", keys.seen(content(1)), "text"});  // no sorted set
  server.ask({"ZADD", keys.seen(content(2)), "1e300", id(1)});
  server.ask({"ZADD", keys.seen(content(2)), "+inf", std::string(100'000, 'x')});
  const std::string now = server.ask({"TIME"}).list[0].text + "000";
  for (const std::uint32_t number : {2, 3, 4, 5})
    server.ask({"ZADD", keys.seen(content(3)), now, id(number)});
  server.ask({"ZADD", keys.seen(content(3)), now, "no id"});
  server.ask({"HSET", keys.peers(content(3)), id(2), "no record"});
  server.ask({"HSET", keys.peers(content(3)), id(3), std::string(1 << 20, 'x')});
  server.ask({"HSET", keys.peers(content(3)), id(4), std::string("\x07", 1) + "123456"});
  server.ask({"HSET", keys.peers(content(3)), id(5), peer_record(pack(peer(5)))});
  server.ask({"SET", "firn:{" + std::string(52, 'A') + "}:seen", "no id"});
  Shared a(server.options());
  CHECK(a.wait([&] { return knows(a, 3, peer(5)); }));
  CHECK(a->counts(content(3)) == SwarmCounts{0, 1});
  CHECK(a->contents().size() == 1);
  REQUIRE(a.wait_until_it_stands());
  const auto before = a.state().rejected_count;  // before its thread hears of what follows
  CHECK(before > 0);
  server.ask({"XADD", keys.changes(), "*", "a", "b"});
  server.ask({"XADD", keys.changes(), "*", "from", "x", "peers", "rubbish", "offers", ""});
  server.ask(
      {"XADD", keys.changes(), "*", "from", "x", "peers", std::string(1 << 20, 'x'), "offers", ""});
  server.ask({"HSET", keys.manifest(content(3)), "size", "99999999999", "prefix", "x"});
  server.ask({"XADD", keys.changes(), "*", "from", "x", "peers", "", "offers",
              std::string(content(3).raw())});
  CHECK(a.wait([&] { return a.state().rejected_count >= 4 + before; }));
  CHECK_FALSE(a->has_manifest(content(3)));
  CHECK(a.said_count("no tracker wrote") == 1);
  CHECK(a.state().lost_count == 0);
  // It goes on with all others, and with times that lay ahead.
  a.announce(1, peer(7));
  a.announce(2, peer(1));
  a.announce(3, peer(8));
  Shared b(server.options());
  CHECK(wait_for_both(a, b, [&] { return knows(b, 2, peer(1)) && knows(b, 3, peer(8)); }));
}

TEST_CASE("a manifest that is not the content's is not taken" * doctest::skip(kLacks)) {
  RedisServer server;
  const Keys keys("firn:");
  const Manifest right = manifest(10), wrong = manifest(10, "other");
  const auto put = [&](const Manifest& bytes) {
    server.ask({"HSET", keys.manifest(right.id), "prefix", "net", "0", bytes.file_bytes, "size",
                std::to_string(bytes.file_bytes.size())});
    server.ask({"XADD", keys.changes(), "*", "from", "x", "peers", "", "offers",
                std::string(right.id.raw())});
  };
  Shared a(server.options());
  REQUIRE(a.wait_until_it_stands());
  a->announce(right.id, pack(peer(1)), steady_now());
  put(wrong);
  REQUIRE(a.wait([&] { return a.state().rejected_count > 0; }));
  CHECK_FALSE(a->has_manifest(right.id));
  put(right);
  CHECK(a.wait([&] { return a->has_manifest(right.id); }));
}

TEST_CASE("a wrong password is told once, with what to do" * doctest::skip(kLacks)) {
  RedisServer server({"--requirepass", "sesame"});
  RedisOptions options = server.options();
  options.address.password = "secret";
  Shared a(options);
  REQUIRE(a.wait_until_it_says("--redis-password-file"));
  CHECK(a.announce(1, peer(1)) == AnnounceOutcome::kKept);
  CHECK(a.said().find("secret") == std::string::npos);
  CHECK_FALSE(a.state().connected);
  options.address.password = "sesame";
  Shared b(options);
  CHECK(b.wait_until_it_stands());
  CHECK(a.said_count("serving alone") == 1);
}

TEST_CASE("a Redis that takes connections and never answers holds nothing up" *
          doctest::skip(kLacks)) {
  const TemporaryFolder folder;
  const std::string path = folder.path / "deaf";
  const UniqueFd deaf(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  REQUIRE(path.copy(address.sun_path, sizeof(address.sun_path) - 1) == path.size());
  REQUIRE(::bind(deaf.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  REQUIRE(::listen(deaf.get(), 16) == 0);
  RedisOptions options;
  options.address = parse_redis_address("unix://" + path).value();
  options.timeout = std::chrono::milliseconds(200);
  Shared a(options);
  std::uint32_t announced = 0;
  CHECK(a.wait([&] {
    CHECK(a.announce(1, peer(++announced % 1000)) == AnnounceOutcome::kKept);
    return a.said_count("does not answer in time") == 1;
  }));
  CHECK(announced > 1);
}

TEST_CASE("one that stops answering is lost, and is back when it does" * doctest::skip(kLacks)) {
  RedisServer server;
  RedisOptions options = server.options();
  options.timeout = std::chrono::milliseconds(500);
  Shared a(options);
  REQUIRE(a.wait_until_it_stands());
  server.halt();
  REQUIRE(a.wait_until_it_says("does not answer in time"));
  a.announce(1, peer(1));
  server.go_on();
  CHECK(a.wait_until_it_stands(2));
  Shared b(server.options());
  CHECK(wait_for_both(a, b, [&] { return knows(b, 1, peer(1)); }));
}

TEST_CASE("a Redis that takes no writes is told of, and left alone" * doctest::skip(kLacks)) {
  RedisServer server({"--maxmemory", "1"});
  Shared a(server.options());
  a.announce(1, peer(1));
  CHECK(a.wait_until_it_says("maxmemory"));
  CHECK(a->has_peer(content(1), peer_id(1)));
  server.ask({"CONFIG", "SET", "maxmemory", "0"});
  CHECK(a.wait_until_it_stands());
  CHECK(a.said_count("serving alone") == 1);
}

TEST_CASE("trackers of different prefixes or databases share nothing" * doctest::skip(kLacks)) {
  RedisServer server;
  RedisOptions other = server.options();
  SUBCASE("prefix") {
    other.key_prefix = "other:";
  }
  SUBCASE("database") {
    other.address.database = 3;
  }
  Shared a(server.options()), b(other);
  REQUIRE(a.wait_until_it_stands());
  a.announce(1, peer(1));
  REQUIRE(a.wait([&] {
    return server.ask({"EXISTS", Keys("firn:").seen(content(1))}).integer == 1;
  }));
  REQUIRE(b.wait_until_it_stands());
  b.announce(2, peer(2));
  const auto connection = open_redis(other).value();
  REQUIRE(b.wait([&] {
    return connection->exchange({{"EXISTS", Keys(other.key_prefix).seen(content(2))}})
               .value()[0]
               .integer == 1;
  }));
  b.turn();
  CHECK_FALSE(b->has_peer(content(1), peer_id(1)));
  a.turn();
  CHECK_FALSE(a->has_peer(content(2), peer_id(2)));
}

}  // namespace
}  // namespace firn::tracker::test
