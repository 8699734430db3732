// The desks of several I/O threads, turn by turn on one thread.
#include "tracker/server_desk.h"

#include <doctest/doctest.h>

#include <deque>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "proto/base/within_memory.h"
#include "tests/tracker/tracker_fixture.h"
#include "tracker/registry_memory.h"

namespace firn::tracker::test {
namespace {

using proto::transport::ConnectionId;
using proto::transport::Replies;

// Keeps what is answered. As the real one, it reads on with every answer.
class AnswersKept final : public proto::transport::Transport {
 public:
  Result<Address> listen(const Address& where) override { return where; }
  ConnectionId connect(const Address&) override { return 0; }
  void send(ConnectionId, proto::OutgoingFrame, proto::transport::FrameTag) override {}
  void send_run(ConnectionId, std::vector<proto::Block>, std::size_t,
                proto::transport::FrameTag) override {}
  void close(ConnectionId) override {}
  void pause_reading(ConnectionId, bool) override {}
  void answer(ConnectionId, std::span<const std::uint8_t> frames) override {
    answers.emplace_back(frames.begin(), frames.end());
  }
  const PeerId& id() const override { return id_; }

  std::vector<std::vector<std::uint8_t>> answers;

 private:
  PeerId id_;
};

constexpr std::size_t kDesks = 3;
constexpr ConnectionId kClient = 7;

ContentId content_of_shard(std::size_t shard) {
  ContentId id;
  id.bytes[8] = static_cast<std::uint8_t>(shard);
  CHECK(shard_of(id, kDesks) == shard);
  return id;
}

// A client of the first desk; the others answer when they are woken.
struct Office {
  Office() {
    options.clock = [] { return Time{0}; };
    for (std::size_t number = 0; number < kDesks; ++number)
      desks.push_back(std::make_unique<Desk>(registries[number], options, number, desks));
    for (const auto& desk : desks) desk->use(transport);
    proto::transport::PeerInfo info;
    info.id = peer_id(1);
    info.ip = "192.0.2.1";
    desks[0]->opened(kClient, info);
  }
  // Whether the connection is read on.
  bool ask(const proto::TrackerRequest& request) {
    const std::string message = firn::test::message_in(proto::serialize(request));
    Replies replies;
    REQUIRE(desks[0]->requested(kClient, firn::test::bytes_of(message), replies).ok());
    CHECK(replies.size() == 0);
    return !replies.later();
  }
  bool get(std::size_t shard) { return ask(proto::TrackerManifestGet{content_of_shard(shard), 0}); }
  bool announce(std::size_t shard) {
    return ask(proto::Announce{.content_id = content_of_shard(shard), .listen_port = 1});
  }
  // A desk answers what has come for it, and the first desk sees to the answers.
  void answered_by(std::size_t shard) {
    desks[shard]->woken();
    desks[0]->woken();
  }

  DeskOptions options;
  std::deque<MemoryRegistry> registries{kDesks};
  AnswersKept transport;
  Desk::Desks desks;
};

TEST_CASE("one part of a manifest at most waits in a connection's line") {
  Office office;
  CHECK_FALSE(office.get(1));
  CHECK(office.transport.answers.empty());
  office.answered_by(1);
  CHECK(office.transport.answers.size() == 1);
  CHECK_FALSE(office.get(2));
}

TEST_CASE("a part of a manifest that is sent to a tracker waits alone, too") {
  Office office;
  CHECK_FALSE(office.ask(proto::TrackerManifestPut{content_of_shard(1), 100, 0, "part"}));
}

TEST_CASE("answers to earlier requests do not have the connection read on") {
  Office office;
  CHECK(office.announce(1));
  CHECK_FALSE(office.get(2));
  office.answered_by(1);
  CHECK(office.transport.answers.empty());
  office.answered_by(2);
  CHECK(office.transport.answers.size() == 1);
  CHECK(office.announce(1));  // it is read on
  office.answered_by(1);
  CHECK(office.transport.answers.size() == 2);
}

TEST_CASE("a part of the desk's own shard counts where it stands behind another answer") {
  Office office;
  CHECK(office.announce(1));
  CHECK_FALSE(office.get(0));
  office.answered_by(1);
  CHECK(office.transport.answers.size() == 1);
  CHECK(office.announce(1));
}

TEST_CASE("announces are read on until there are many") {
  Office office;
  for (int i = 1; i < 16; ++i) CHECK(office.announce(1));
  CHECK_FALSE(office.announce(1));
  office.answered_by(1);
  CHECK(office.transport.answers.size() == 1);
}

// Desks whose worker does nothing before it is let go.
struct HeldWorker {
  explicit HeldWorker(std::size_t count) {
    options.clock = [] { return Time{0}; };
    options.core.checked_at_once_max = 0;
    options.worker = &worker;
    for (std::size_t number = 0; number < count; ++number)
      desks.push_back(std::make_unique<Desk>(registries[number], options, number, desks));
    for (const auto& desk : desks) desk->use(transport);
    for (const ConnectionId client : {kClient, kClient + 1}) {
      proto::transport::PeerInfo info;
      info.id = peer_id(static_cast<std::uint32_t>(client));
      info.ip = "192.0.2.1";
      desks[0]->opened(client, info);
    }
    worker.run([this] { held.get_future().wait(); });
  }
  ~HeldWorker() {
    let_go();
    worker.stop();
  }
  void let_go() {
    if (!std::exchange(gone, true)) held.set_value();
  }

  // What is answered at once; nullopt: nothing. After a put the connection is not read on.
  std::optional<proto::TrackerReply> ask(ConnectionId client,
                                         const proto::TrackerRequest& request) {
    const std::string message = firn::test::message_in(proto::serialize(request));
    Replies replies;
    REQUIRE(desks[0]->requested(client, firn::test::bytes_of(message), replies).ok());
    if (std::holds_alternative<proto::TrackerManifestPut>(request)) CHECK(replies.later());
    if (replies.size() > 0) CHECK_FALSE(replies.later());
    if (replies.size() == 0) return std::nullopt;
    return proto::parse_tracker_reply(replies.bytes().subspan(4)).value();
  }
  void turn() {
    for (const auto& desk : desks) desk->woken();
    std::this_thread::yield();
  }
  // Turns of all desks until something more has been answered.
  proto::TrackerReply next_answer() {
    const std::size_t before = transport.answers.size();
    while (transport.answers.size() == before) turn();
    return proto::parse_tracker_reply(std::span(transport.answers.back()).subspan(4)).value();
  }

  std::promise<void> held;
  bool gone = false;
  Worker worker;
  DeskOptions options;
  std::deque<MemoryRegistry> registries{kDesks};
  AnswersKept transport;
  Desk::Desks desks;
};

Manifest manifest_of_shard(std::size_t shard, std::size_t shards) {
  for (int number = 0;; ++number) {
    const Manifest whole = manifest(20, "file " + std::to_string(number));
    if (shard_of(whole.id, shards) == shard) return whole;
  }
}

// A peer of one connection puts a manifest, another asks for it.
struct Put {
  // How many desks there are, and which has the content. The connections are the first one's.
  struct Where {
    std::size_t desks, shard;
  };
  explicit Put(const Where& where)
      : whole(manifest_of_shard(where.shard, where.desks)),
        tracker(where.desks),
        registry(tracker.registries[where.shard]) {
    CHECK_FALSE(announce(kClient).has_manifest);
  }
  proto::AnnounceReply announce(ConnectionId client) {
    auto reply = tracker.ask(client, announcing);
    if (!reply) reply = tracker.next_answer();
    return std::get<proto::AnnounceReply>(*reply);
  }
  // It is not answered, and others are.
  void put(const std::string& file) {
    CHECK_FALSE(tracker.ask(kClient,
                            proto::TrackerManifestPut{whole.id, whole.file_bytes.size(), 0, file}));
    tracker.turn();
    CHECK_FALSE(announce(kClient + 1).has_manifest);
  }

  const Manifest whole;
  const proto::Announce announcing{.content_id = whole.id, .listen_port = 1};
  HeldWorker tracker;
  Registry& registry;
};

constexpr Put::Where kEach[] = {{1, 0}, {kDesks, 0}, {kDesks, 1}};

TEST_CASE("while a large manifest is checked everybody else is answered, on every thread") {
  for (const Put::Where& where : kEach) {
    Put put(where);
    put.put(put.whole.file_bytes);
    put.tracker.let_go();
    const auto kept = put.tracker.next_answer();
    CHECK(std::get<proto::TrackerManifestPutReply>(kept).next_offset ==
          put.whole.file_bytes.size());
    CHECK(put.announce(kClient + 1).has_manifest);
  }
}

TEST_CASE("a false manifest is refused once it has been checked") {
  for (const Put::Where& where : kEach) {
    Put put(where);
    put.put(std::string(put.whole.file_bytes.size(), 'x'));
    put.tracker.let_go();
    const auto refused = put.tracker.next_answer();
    CHECK(std::get<proto::TrackerError>(refused).code == proto::TrackerErrorCode::kMalformed);
    CHECK_FALSE(put.registry.has_manifest(put.whole.id));
  }
}

TEST_CASE("a manifest is kept though its sender has gone before it was checked") {
  for (const Put::Where& where : kEach) {
    Put put(where);
    put.put(put.whole.file_bytes);
    put.tracker.desks[0]->closed(kClient);
    put.tracker.turn();
    put.tracker.let_go();
    while (!put.registry.has_manifest(put.whole.id)) put.tracker.turn();
  }
}

TEST_CASE("a tracker that ends drops a manifest to be checked; what stands behind it waits") {
  for (const std::size_t shard : {0, 1}) {
    for (const bool closed_first : {true, false}) {
      Put put({kDesks, shard});
      HeldWorker& tracker = put.tracker;
      const std::size_t before = tracker.transport.answers.size();
      tracker.let_go();
      tracker.worker.stop();
      CHECK_FALSE(
          tracker.ask(kClient, proto::TrackerManifestPut{put.whole.id, put.whole.file_bytes.size(),
                                                         0, put.whole.file_bytes}));
      tracker.turn();
      for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(tracker.ask(kClient, put.announcing));
        tracker.turn();
      }
      CHECK(tracker.transport.answers.size() == before);
      if (closed_first) tracker.desks[0]->closed(kClient);
    }
  }
}

TEST_CASE("manifests that are being checked take room until they have been") {
  MemoryRegistry registry;
  CoreOptions options;
  options.checked_at_once_max = 0;
  AnnounceCore core(registry, options, 1);
  core.connected(1, peer_id(1), "192.0.2.1", Time{0});
  const Manifest whole = manifest(20);
  const std::size_t bytes = whole.file_bytes.size();
  (void)core.handle(1, proto::Announce{.content_id = whole.id, .listen_port = 1}, Time{0});
  (void)core.handle(1, proto::TrackerManifestPut{whole.id, bytes, 0, whole.file_bytes}, Time{0});
  const auto taken = core.take_whole();
  REQUIRE(taken);
  core.disconnected(1);
  CHECK(core.fill().upload_bytes == bytes);
  (void)core.checked(*taken, Done{});
  CHECK(core.fill().upload_bytes == 0);
  CHECK(registry.has_manifest(whole.id));
}

TEST_CASE("a manifest that there is no memory to check is not called malformed") {
  MemoryRegistry registry;
  AnnounceCore core(registry, {}, 1);
  const Manifest whole = manifest(20);
  const auto reply = core.checked({whole.id, "", "192.0.2"}, no_memory("check the manifest"));
  CHECK(std::get<proto::TrackerError>(reply).code == proto::TrackerErrorCode::kInternal);
  CHECK_FALSE(registry.has_manifest(whole.id));
}

}  // namespace
}  // namespace firn::tracker::test
