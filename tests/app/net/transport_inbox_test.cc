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

}  // namespace
}  // namespace firn::app
