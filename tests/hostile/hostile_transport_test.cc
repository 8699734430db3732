// What passes between a hostile process and the network.
#include "tests/hostile/hostile_transport.h"

#include <doctest/doctest.h>

#include "proto/framing.h"
#include "tests/app/net/fake_transport.h"

using namespace firn;
using hostile::HostileTransport;
using proto::transport::ConnectionId;
using tests::FakeTransport;

namespace {

constexpr std::uint32_t kN = 4, kBytes = 16;
const Shape kShape{kN, kBytes, std::uint64_t{2} * kN* kBytes};

struct Heard final : proto::transport::EventSink {
  std::vector<proto::PeerMessage> messages;
  std::vector<std::vector<std::uint8_t>> frames;
  int opened = 0, closed = 0, departed = 0;

  void on_open(ConnectionId, const proto::transport::PeerInfo&) override { ++opened; }
  Status on_frame(ConnectionId, std::span<const std::uint8_t> frame) override {
    frames.emplace_back(frame.begin(), frame.end());
    auto message = proto::parse_peer_message(frame);
    if (message.ok()) messages.push_back(*std::move(message));
    return Done{};
  }
  void on_departed(ConnectionId, proto::transport::FrameTag) override { ++departed; }
  void on_close(ConnectionId, const Error&) override { ++closed; }
};

PeerId peer(std::uint8_t of) {
  PeerId id;
  id.bytes.fill(of);
  return id;
}

std::vector<std::uint8_t> body(const proto::OutgoingFrame& frame) {
  std::vector<std::uint8_t> bytes(frame.head.begin() + proto::kFramePrefixBytes, frame.head.end());
  bytes.insert(bytes.end(), frame.payload.bytes().begin(), frame.payload.bytes().end());
  return bytes;
}

proto::Block block() {
  proto::Block made;
  made.sequence = 1;
  made.coefficients = {1, 2, 3, 4};
  made.unproven = true;
  made.payload = proto::Payload::allocate(kBytes);
  for (std::uint8_t& byte : made.payload.writable()) byte = 7;
  return made;
}

// A hostile process with one connection, 1, that `outgoing` tells the side of.
struct Scene {
  Heard process;
  FakeTransport* network = nullptr;
  proto::transport::EventSink* events = nullptr;
  std::unique_ptr<HostileTransport> transport;

  explicit Scene(const std::string& deeds, bool outgoing = false) {
    auto identity = proto::transport::Identity::generate();
    const auto start = [this](const auto&, proto::transport::EventSink& sink,
                              const auto&) -> Result<std::unique_ptr<proto::transport::Transport>> {
      auto made = std::make_unique<FakeTransport>();
      network = made.get();
      events = &sink;
      return std::unique_ptr<proto::transport::Transport>(std::move(made));
    };
    transport = *HostileTransport::start(start, hostile::parse_deeds(deeds).value(), *identity,
                                         process, {});
    transport->learn(kShape);
    proto::transport::PeerInfo info;
    info.id = peer(9);
    info.outgoing = outgoing;
    events->on_open(1, info);
  }
  proto::PeerMessage sent(const proto::PeerMessage& message, proto::transport::FrameTag tag = 5) {
    transport->send(1, serialize(message), tag);
    return network->message(1, network->sent.at(1).size() - 1);
  }
  proto::PeerMessage came(const proto::PeerMessage& message) {
    REQUIRE(events->on_frame(1, body(serialize(message))).ok());
    return process.messages.back();
  }
};

proto::Hello hello(const std::string& agent) {
  proto::Hello said;
  said.agent = agent;
  said.certificate = std::string(64, 'c');
  return said;
}

}  // namespace

TEST_CASE("blocks that leave a hostile process are false, and are counted") {
  Scene scene("byte");
  const proto::PeerMessage sent = scene.sent(block(), 5);
  CHECK_FALSE(std::get<proto::Block>(sent).payload == block().payload);
  CHECK(std::get<proto::Block>(sent).coefficients == block().coefficients);
  CHECK(std::get<proto::Block>(sent).unproven);
  CHECK(scene.network->tags.at(1) == std::vector<proto::transport::FrameTag>{5});
  CHECK(scene.transport->counts().blocks == 1);
  CHECK(scene.transport->counts().falsified == 1);
}

TEST_CASE("what has no deeds to it passes as it is, both ways") {
  Scene scene("byte");
  proto::State state;
  state.credit = 9;
  state.proven_only = true;
  CHECK(std::get<proto::State>(scene.sent(state)) == state);
  CHECK(std::get<proto::State>(scene.came(state)) == state);
  CHECK(std::get<proto::Hello>(scene.came(hello("firn/0"))) == hello("firn/0"));
  const std::vector<std::uint8_t> nonsense{0xff, 0xff};
  CHECK(scene.events->on_frame(1, nonsense).ok());
  CHECK(scene.process.frames.back() == nonsense);
  scene.events->on_departed(1, 5);
  scene.events->on_close(1, Error{});
  CHECK(scene.process.opened + scene.process.departed + scene.process.closed == 3);
}

TEST_CASE("a silent process never hears of credit") {
  Scene scene("silent");
  proto::State state;
  state.credit = 9;
  CHECK(std::get<proto::State>(scene.came(state)).credit == 0);
  proto::Block carrier = block();
  carrier.state = state;
  CHECK(std::get<proto::Block>(scene.came(carrier)).state->credit == 0);
}

TEST_CASE(
    "a connection is a peer's once a Hello has gone out on it, and a tracker's is left alone") {
  Scene scene("rank-liar+silent", true);
  proto::State state;
  state.credit = 9;
  state.generations.push_back({0, 1, 1, {}});
  CHECK(std::get<proto::State>(scene.sent(state)) == state);  // a tracker's request may look so
  CHECK(std::get<proto::State>(scene.came(state)) == state);
  scene.sent(hello("firn/0"));
  CHECK(std::get<proto::State>(scene.sent(state)).generations[0].rank == kN - 1);
  CHECK(std::get<proto::State>(scene.came(state)).credit == 0);
}

TEST_CASE("saboteurs praise those that greet them as such") {
  Scene scene("reports");
  proto::State state;
  state.received = {{peer(3).prefix(), 40}};
  CHECK(std::get<proto::State>(scene.sent(state)).received.size() == 1);  // itself
  scene.came(hello(hostile::kAgent));
  const auto praised = std::get<proto::State>(scene.sent(state)).received;
  REQUIRE(praised.size() == 2);
  CHECK((praised[0].peer_prefix == peer(9).prefix() || praised[1].peer_prefix == peer(9).prefix()));
}

TEST_CASE("one that believes all hears of no authority, and answers for all that it sends") {
  Scene scene("colluding+noise");
  CHECK(std::get<proto::Hello>(scene.came(hello("firn/0"))).certificate.empty());
  proto::State state;
  state.proven_only = true;
  CHECK_FALSE(std::get<proto::State>(scene.came(state)).proven_only);
  CHECK_FALSE(std::get<proto::Block>(scene.sent(block())).unproven);
}
