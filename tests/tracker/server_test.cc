// The tracker over real connections, in this process.
#include "tracker/server.h"

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <memory>

#include "proto/base/limits.h"
#include "tests/tracker/tracker_fixture.h"
#include "tests/transport/recorder.h"
#include "tracker/registry_memory.h"

namespace firn::tracker::test {
namespace {

using proto::transport::ConnectionId;
using proto::transport::Identity;
using proto::transport::test::Node;

struct Running {
  explicit Running(ServerOptions options = {}, std::size_t shards = 1)
      : identity(Identity::generate().value()), registries(shards) {
    std::vector<Registry*> all;
    for (MemoryRegistry& registry : registries) all.push_back(&registry);
    options.clock = [this] { return Time(now.load()); };
    options.seed = 5;
    server = Server::start(identity, all, std::move(options)).value();
    address = server->listen(Address{{}, "127.0.0.1", 0}).value();
  }
  std::atomic<Time::rep> now{0};
  Identity identity;
  std::deque<MemoryRegistry> registries;
  std::unique_ptr<Server> server;
  Address address;
};

// A peer that asks and waits for the reply.
struct Asker {
  explicit Asker(const Address& tracker) : connection(node.transport->connect(tracker)) {
    REQUIRE(node.recorder.wait_open(connection));
  }
  void send(const proto::TrackerRequest& request) {
    node.transport->send(connection, proto::serialize(request));
  }
  proto::TrackerReply reply(std::size_t number) {
    REQUIRE(node.recorder.wait_frames(connection, number));
    return proto::parse_tracker_reply(node.recorder.connection(connection).frames[number - 1])
        .value();
  }
  proto::TrackerReply ask(const proto::TrackerRequest& request) {
    send(request);
    return reply(++asked);
  }
  proto::AnnounceReply announce(std::uint16_t port, bool complete = false,
                                const ContentId& id = content(1)) {
    return std::get<proto::AnnounceReply>(
        ask(proto::Announce{.content_id = id, .listen_port = port, .complete = complete}));
  }
  Node node;
  ConnectionId connection;
  std::size_t asked = 0;
};

TEST_CASE("two peers find each other through the tracker, by proven id and seen address") {
  Running tracker;
  Asker seed(tracker.address);
  Asker peer(tracker.address);
  CHECK(seed.announce(1001, true).peers.empty());
  const auto found = peer.announce(1002);
  CHECK(found.complete_count == 1);
  CHECK(found.peers ==
        std::vector{proto::PeerEndpoint{seed.node.identity.id(), "127.0.0.1", 1001}});
  CHECK(seed.announce(1001, true).peers ==
        std::vector{proto::PeerEndpoint{peer.node.identity.id(), "127.0.0.1", 1002}});
}

TEST_CASE("time passes on the tracker's own clock") {
  Running tracker;
  Asker one(tracker.address);
  Asker two(tracker.address);
  one.announce(1001);
  tracker.now = 151'000;
  two.announce(1002);
  tracker.now = 152'001;
  const auto reply = two.announce(1002);
  CHECK(reply.peers.empty());
  CHECK(reply.incomplete_count == 1);
}

TEST_CASE("a manifest put by one peer is got by another, also with all requests sent at once") {
  Running tracker;
  Asker seed(tracker.address);
  const Manifest whole = manifest(20'000);
  const std::string& bytes = whole.file_bytes;
  seed.announce(1, true, whole.id);
  std::size_t parts = 0;
  for (std::size_t at = 0; at < bytes.size(); at += limits::kManifestPartBytes, ++parts)
    seed.send(proto::TrackerManifestPut{whole.id, bytes.size(), at,
                                        bytes.substr(at, limits::kManifestPartBytes)});
  const auto last = seed.reply(1 + parts);
  REQUIRE(std::holds_alternative<proto::TrackerManifestPutReply>(last));
  CHECK(std::get<proto::TrackerManifestPutReply>(last).next_offset == bytes.size());

  Asker peer(tracker.address);
  for (std::size_t at = 0; at < bytes.size(); at += limits::kManifestPartBytes)
    peer.send(proto::TrackerManifestGet{whole.id, at});
  std::string got;
  for (std::size_t part = 1; part <= parts; ++part)
    got += std::get<proto::ManifestPart>(peer.reply(part)).data;
  CHECK(got == bytes);
}

TEST_CASE("a frame that is no request is answered with an error and the end") {
  Running tracker;
  Asker peer(tracker.address);
  peer.node.transport->send(peer.connection, proto::transport::test::frame_of({0xff, 0xff, 0xff}));
  const auto reply = peer.reply(1);
  REQUIRE(std::holds_alternative<proto::TrackerError>(reply));
  CHECK(std::get<proto::TrackerError>(reply).code == proto::TrackerErrorCode::kMalformed);
  CHECK(peer.node.recorder.wait_closed(peer.connection));
  Asker(tracker.address).announce(7);  // others are served
}

TEST_CASE("a half-sent manifest goes with its connection") {
  ServerOptions options;
  options.core.upload_bytes_total_max = 4000;
  Running tracker(std::move(options));
  const Manifest whole = manifest(2000);
  const proto::TrackerManifestPut half{whole.id, whole.file_bytes.size(), 0,
                                       whole.file_bytes.substr(0, 3000)};
  {
    Asker leaving(tracker.address);
    leaving.announce(1, true, whole.id);
    CHECK(std::holds_alternative<proto::TrackerManifestPutReply>(leaving.ask(half)));
  }
  // The disconnect comes in its own time; until then there is no room.
  Asker next(tracker.address);
  next.announce(2, true, whole.id);
  proto::TrackerReply reply = next.ask(half);
  while (std::holds_alternative<proto::TrackerError>(reply)) {
    CHECK(std::get<proto::TrackerError>(reply).code == proto::TrackerErrorCode::kSlowDown);
    tracker.now += 1000;  // the rate limit is another matter
    reply = next.ask(half);
  }
  CHECK(std::get<proto::TrackerManifestPutReply>(reply).next_offset == 3000);
}

TEST_CASE("a network with too many connections is turned away") {
  ServerOptions options;
  options.transport.connection_count_max = 32;  // of one network 16, the least
  Running tracker(std::move(options));
  std::vector<std::unique_ptr<Asker>> peers;
  for (std::uint16_t i = 0; i < 16; ++i) {
    peers.push_back(std::make_unique<Asker>(tracker.address));
    peers[i]->announce(static_cast<std::uint16_t>(2000 + i));
  }
  Node one_more;
  const ConnectionId connection = one_more.transport->connect(tracker.address);
  CHECK(one_more.recorder.wait_closed(connection));
  CHECK_FALSE(one_more.recorder.connection(connection).open);
}

TEST_CASE("requests sent at once are answered in order, however large the replies are") {
  Running tracker;
  Asker seed(tracker.address);
  const Manifest whole = manifest(20'000);
  seed.announce(1, true, whole.id);
  std::size_t parts = 0;
  for (std::size_t at = 0; at < whole.file_bytes.size(); at += limits::kManifestPartBytes, ++parts)
    seed.send(proto::TrackerManifestPut{whole.id, whole.file_bytes.size(), at,
                                        whole.file_bytes.substr(at, limits::kManifestPartBytes)});
  seed.reply(1 + parts);
  Asker peer(tracker.address);
  constexpr std::size_t kRounds = 50;
  for (std::size_t round = 0; round < kRounds; ++round) {
    peer.send(proto::Announce{.content_id = whole.id, .listen_port = 2});
    peer.send(proto::TrackerManifestGet{whole.id, round});
  }
  for (std::size_t round = 0; round < kRounds; ++round) {
    CHECK(std::holds_alternative<proto::AnnounceReply>(peer.reply(2 * round + 1)));
    CHECK(std::get<proto::ManifestPart>(peer.reply(2 * round + 2)).offset == round);
  }
}

TEST_CASE("with several I/O threads each content is one swarm, whoever's connection lives where") {
  Running tracker({}, 3);
  std::vector<std::unique_ptr<Asker>> peers;
  for (int i = 0; i < 8; ++i) peers.push_back(std::make_unique<Asker>(tracker.address));
  constexpr std::uint32_t kContents = 20;  // of several shards; ids differ in the bytes that say so
  const auto content_of = [](std::uint32_t number) {
    ContentId id = content(number);
    id.bytes[8] = static_cast<std::uint8_t>(number);
    return id;
  };
  for (std::uint16_t i = 0; i < 8; ++i) {
    for (std::uint32_t number = 0; number < kContents; ++number) {
      const auto reply =
          peers[i]->announce(static_cast<std::uint16_t>(2000 + i), false, content_of(number));
      CHECK(reply.incomplete_count == i + 1u);
      CHECK(reply.peers.size() == i);
    }
  }
}

TEST_CASE("a manifest as large as any may be is taken, however many I/O threads there are") {
  const Manifest whole = manifest(2000);
  const std::string& bytes = whole.file_bytes;
  ServerOptions options;
  options.core.manifest_bytes_max = bytes.size();
  options.core.upload_bytes_total_max = 2 * bytes.size();
  Running tracker(std::move(options), 8);
  Asker seed(tracker.address);
  seed.announce(1, true, whole.id);
  const auto reply = seed.ask(proto::TrackerManifestPut{whole.id, bytes.size(), 0, bytes});
  REQUIRE(std::holds_alternative<proto::TrackerManifestPutReply>(reply));
  CHECK(std::get<proto::TrackerManifestPutReply>(reply).next_offset == bytes.size());
}

TEST_CASE("requests for several shards sent at once are answered in order") {
  Running tracker({}, 3);
  Asker peer(tracker.address);
  constexpr std::uint32_t kRequests = 60;
  for (std::uint32_t number = 0; number < kRequests; ++number) {
    ContentId id = content(1);
    id.bytes[8] = static_cast<std::uint8_t>(number % 7);
    peer.send(proto::Announce{.content_id = id, .listen_port = 2, .complete = number % 2 == 0});
    peer.send(proto::TrackerManifestGet{id, 0});
  }
  for (std::uint32_t number = 0; number < kRequests; ++number) {
    const auto reply = std::get<proto::AnnounceReply>(peer.reply(2 * number + 1));
    CHECK(reply.complete_count == (number % 2 == 0 ? 1 : 0));
    CHECK(std::get<proto::TrackerError>(peer.reply(2 * number + 2)).code ==
          proto::TrackerErrorCode::kUnknownContent);
  }
}

TEST_CASE("a client that leaves while another shard answers does no harm") {
  Running tracker({}, 3);
  for (std::uint32_t round = 0; round < 20; ++round) {
    Asker peer(tracker.address);
    ContentId id = content(round);
    id.bytes[8] = static_cast<std::uint8_t>(round);
    peer.send(proto::Announce{.content_id = id, .listen_port = 2});
  }
  Asker(tracker.address).announce(7);
}

TEST_CASE("a tracker whose threads are behind sheds announces that come early, and none else") {
  std::atomic<int> lag_ms{0};
  ServerOptions options;
  options.lag = [&lag_ms](std::size_t) { return std::chrono::milliseconds(lag_ms.load()); };
  Running tracker(std::move(options), 2);
  Asker known(tracker.address);
  known.announce(1001);
  lag_ms = 99;
  known.announce(1001);
  lag_ms = 100;
  const auto shed = known.ask(proto::Announce{.content_id = content(1), .listen_port = 1001});
  REQUIRE(std::holds_alternative<proto::TrackerError>(shed));
  CHECK(std::get<proto::TrackerError>(shed).code == proto::TrackerErrorCode::kSlowDown);
  Asker newcomer(tracker.address);
  CHECK(newcomer.announce(1002).peers.size() == 1);
  tracker.now += 60'000;
  CHECK(known.announce(1001).interval_seconds == 120);
  lag_ms = 0;
  CHECK(known.announce(1001).interval_seconds == 60);
}

TEST_CASE("fifty peers on one address all find each other") {
  Running tracker;
  std::vector<std::unique_ptr<Asker>> peers;
  for (int i = 0; i < 50; ++i) peers.push_back(std::make_unique<Asker>(tracker.address));
  for (std::uint16_t i = 0; i < 50; ++i) peers[i]->announce(static_cast<std::uint16_t>(2000 + i));
  for (std::uint16_t i = 0; i < 50; ++i)
    CHECK(peers[i]->announce(static_cast<std::uint16_t>(2000 + i)).peers.size() == 49);
}

}  // namespace
}  // namespace firn::tracker::test
