// What waits for the main thread, and how far connections are read meanwhile.
#include "client/app/net/transport_inbox.h"

#include <doctest/doctest.h>

#include "proto/framing.h"
#include "tests/app/net/fake_transport.h"

namespace firn::app {
namespace {

using tests::FakeTransport;

// Frames of one message, over and over.
struct Flood {
  explicit Flood(const proto::PeerMessage& message) {
    const proto::OutgoingFrame frame = serialize(message);
    bytes.assign(frame.head.begin() + proto::kFramePrefixBytes, frame.head.end());
    bytes.insert(bytes.end(), frame.payload.bytes().begin(), frame.payload.bytes().end());
  }
  // Delivers until the connection is paused; how many came.
  std::size_t fill(FakeTransport& transport, TransportInbox& inbox, ConnectionId id) const {
    std::size_t count = 0;
    while (!transport.paused[id]) {
      REQUIRE(++count < 1'000'000);
      REQUIRE(inbox.on_frame(id, bytes).ok());
    }
    return count;
  }
  std::vector<std::uint8_t> bytes;
};

TEST_CASE("messages that wait are charged what they take in memory, however small their frames") {
  FakeTransport transport;
  TransportInbox inbox(8 << 20, [] {});
  inbox.attach(&transport);
  proto::State many;  // two bytes of each on the wire
  many.generations.resize(4000);
  std::size_t bytes = 0;
  for (ConnectionId id = 1; id <= 100; ++id) {
    bytes += Flood(proto::State{}).fill(transport, inbox, id) * sizeof(TransportEvent);
    transport.paused[id] = false;
    bytes += Flood(many).fill(transport, inbox, id) * 4000 * sizeof(proto::GenerationState);
  }
  CHECK(bytes < 40 << 20);  // the last message of each connection passes the bound
}

TEST_CASE("a connection's flood of States stops its own reading, and leaves room for others") {
  FakeTransport transport;
  TransportInbox inbox(8 << 20, [] {});
  inbox.attach(&transport);
  CHECK(Flood(proto::State{}).fill(transport, inbox, 1) < 1000);
  proto::Block one;
  one.sequence = 1;
  one.source_index = 0;
  one.payload = proto::Payload::allocate(1000);
  const Flood other{proto::PeerMessage(one)};
  for (int i = 0; i < 100; ++i) REQUIRE(inbox.on_frame(2, other.bytes).ok());
  CHECK_FALSE(transport.paused[2]);
  std::vector<TransportEvent> events;
  inbox.take(events, 0);
  CHECK_FALSE(transport.paused[1]);
}

TEST_CASE("a connection that sends States without end is read at a bounded rate") {
  FakeTransport transport;
  TransportInbox inbox(8 << 20, [] {});
  inbox.attach(&transport);
  const Flood flood(proto::State{});
  std::vector<TransportEvent> events;
  std::size_t count = 0;
  core::TimeUs now = 0;
  for (; now < 60 * core::kSecond; now += 1000) {
    inbox.take(events, now);
    if (!transport.paused[1]) count += flood.fill(transport, inbox, 1);
  }
  CHECK(count < 60 * 1000 + 4000 + 1000);
  CHECK(count > 55 * 1000);
  inbox.on_close(1, {ErrorCode::kIo, "", ""});
  inbox.take(events, now);
  CHECK(inbox.next_wake() == core::kNever);
}

TEST_CASE(
    "a block whose payload came apart is the same message, charged the same, and not copied") {
  FakeTransport transport;
  TransportInbox inbox(8 << 20, [] {});
  inbox.attach(&transport);
  proto::Block block;
  block.sequence = 1;
  block.source_index = 0;
  block.payload = proto::Payload::allocate(1 << 20);
  const proto::OutgoingFrame frame = serialize(proto::PeerMessage(block));
  const Flood whole{proto::PeerMessage(block)};
  const auto head = std::span(whole.bytes).first(frame.head.size() - proto::kFramePrefixBytes);
  REQUIRE(inbox.on_frame(1, whole.bytes).ok());
  REQUIRE(inbox.on_payload(1, head, block.payload).ok());
  std::vector<TransportEvent> events;
  inbox.take(events, 0);
  REQUIRE(events.size() == 2);
  const auto& one = std::get<MessageArrived>(events[0]);
  const auto& other = std::get<MessageArrived>(events[1]);
  CHECK(one.message == other.message);
  CHECK(one.frame_bytes == other.frame_bytes);
  const auto& received = std::get<proto::Block>(other.message).payload;
  CHECK(received.bytes().data() == block.payload.bytes().data());
  // Connections are paused after as many.
  std::size_t count = 0;
  while (!transport.paused[2]) {
    REQUIRE(++count < 100);
    REQUIRE(inbox.on_payload(2, head, block.payload).ok());
  }
  inbox.take(events, 1);
  CHECK(count == whole.fill(transport, inbox, 3));
}

TEST_CASE("a head that fits no payload closes the connection with a goodbye") {
  FakeTransport transport;
  TransportInbox inbox(8 << 20, [] {});
  inbox.attach(&transport);
  const std::vector<std::uint8_t> head{0x1a, 0x02, 0x7a, 0x00};
  CHECK_FALSE(inbox.on_payload(1, head, proto::Payload::allocate(10)).ok());
  CHECK(transport.sent[1].size() == 1);
}

}  // namespace
}  // namespace firn::app
