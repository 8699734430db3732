// The desks of several I/O threads, turn by turn on one thread.
#include "tracker/server_desk.h"

#include <doctest/doctest.h>

#include <deque>
#include <memory>

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

}  // namespace
}  // namespace firn::tracker::test
