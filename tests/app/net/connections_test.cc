#include <doctest/doctest.h>

#include "client/app/net/connections.h"
#include "proto/base/signing_key.h"
#include "tests/app/net/fake_transport.h"

namespace firn::app {
namespace {

using tests::FakeTransport;

struct Hearer final : PeerEvents {
  std::vector<core::PeerKey> opened, closed, guilty;
  std::vector<std::uint64_t> attempts, failed;
  std::vector<proto::PeerMessage> messages;
  std::vector<std::size_t> departed;
  std::vector<std::uint32_t> departed_together;
  int parts_departed = 0;

  void peer_opened(core::PeerKey peer, const proto::transport::PeerInfo&,
                   std::uint64_t attempt) override {
    opened.push_back(peer);
    attempts.push_back(attempt);
  }
  void connect_failed(std::uint64_t attempt, const Error&) override { failed.push_back(attempt); }
  void peer_closed(core::PeerKey peer, const Error&) override { closed.push_back(peer); }
  void peer_broke_protocol(core::PeerKey peer, const Error&) override { guilty.push_back(peer); }
  void peer_message(core::PeerKey, proto::PeerMessage message, std::size_t) override {
    messages.push_back(std::move(message));
  }
  void blocks_departed(core::PeerKey, std::uint32_t blocks, std::size_t bytes) override {
    departed.push_back(bytes);
    departed_together.push_back(blocks);
  }
  void manifest_part_departed(core::PeerKey) override { ++parts_departed; }
};

struct Connected final : ContentDirectory {
  FakeTransport transport;
  TransportInbox inbox{10'000, [] {}};
  Hearer owner;
  ContentId served, opening;
  Connections connections{inbox, *this};

  PeerEvents* find(const ContentId& content) override {
    return content == served ? &owner : nullptr;
  }
  bool knows(const ContentId& content) override { return content == opening; }
  Proven find_private(const proto::PrivateProof&, const proto::transport::PeerInfo&) override {
    return {};
  }
  Connected() {
    served.bytes.fill(9);
    opening.bytes.fill(8);
    inbox.attach(&transport);
    connections.attach(transport);
  }
  // The connection's key for the core.
  core::PeerKey dial() {
    connections.connect(owner, 5, {{}, "host", 1});
    open(transport.last, true);
    return owner.opened.back();
  }
  void open(ConnectionId id, bool outgoing) {
    proto::transport::PeerInfo info;
    info.outgoing = outgoing;
    inbox.on_open(id, info);
    pump();
  }
  void arrive(ConnectionId id, const proto::PeerMessage& message) {
    const auto frame = serialize(message);
    const std::string bytes = frame.head.substr(proto::kFramePrefixBytes);
    CHECK(inbox.on_frame(id, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()})
              .ok());
    pump();
  }
  void pump() {
    std::vector<TransportEvent> events;
    inbox.take(events, 0);
    for (auto& event : events) connections.handle(std::move(event), 0);
  }
};

using Refusals = std::vector<std::pair<std::string, std::string>>;

Refusals& collect_refusals(Connected& fixture, Refusals& refusals) {
  fixture.connections.on_refused = [&refusals](const std::string& stranger,
                                               const std::string& why) {
    refusals.emplace_back(stranger, why);
  };
  return refusals;
}

TEST_CASE("a stranger that begins with something that is no message is told so, and named") {
  Connected fixture;
  Refusals refusals;
  collect_refusals(fixture, refusals);
  fixture.open(7, false);
  proto::Hello hello;
  hello.version_min = 3;
  hello.version_max = 2;
  const auto frame = serialize(proto::PeerMessage(hello));
  const std::string bytes = frame.head.substr(proto::kFramePrefixBytes);
  const Status status = fixture.inbox.on_frame(
      7, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  REQUIRE_FALSE(status.ok());
  REQUIRE(fixture.transport.sent[7].size() == 1);
  const auto goodbye = std::get<proto::Goodbye>(fixture.transport.message(7, 0));
  CHECK(goodbye.reason == proto::GoodbyeReason::kProtocolError);
  CHECK(goodbye.detail.find("versions 3 to 2") != std::string::npos);
  fixture.inbox.on_close(7, status.error());
  fixture.pump();
  REQUIRE(refusals.size() == 1);
  CHECK(refusals[0].second.find("versions 3 to 2") != std::string::npos);
  CHECK(fixture.owner.opened.empty());
}

TEST_CASE("a stranger that never says Hello is told why it is left") {
  Connected fixture;
  Refusals refusals;
  collect_refusals(fixture, refusals);
  fixture.open(7, false);
  fixture.connections.wake(Connections::kHelloTimeout);
  CHECK(std::get<proto::Goodbye>(fixture.transport.message(7, 0)).reason ==
        proto::GoodbyeReason::kProtocolError);
  CHECK(fixture.transport.closed.contains(7));
  CHECK(refusals.size() == 1);
}

proto::Block block(std::uint32_t sequence) {
  proto::Block block;
  block.sequence = sequence;
  block.source_index = 0;
  return block;
}

proto::PeerMessage state(std::uint32_t credit) {
  proto::State state;
  state.credit = credit;
  return state;
}

TEST_CASE("frames leave in the order in which they were decided, however late a payload is made") {
  Connected f;
  const core::PeerKey peer = f.dial();
  const ConnectionId id = f.transport.last;
  const auto first = f.connections.reserve(peer, block(1));
  f.connections.send(peer, state(7));
  const auto second = f.connections.reserve(peer, block(2));
  f.connections.fill(second, proto::Payload::allocate(10));
  CHECK(f.transport.sent[id].empty());
  f.connections.fill(first, proto::Payload::allocate(10));
  f.connections.send(peer, state(8));
  REQUIRE(f.transport.sent[id].size() == 4);
  CHECK(std::get<proto::Block>(f.transport.message(id, 0)).sequence == 1);
  CHECK(std::get<proto::State>(f.transport.message(id, 1)).credit == 7);
  CHECK(std::get<proto::Block>(f.transport.message(id, 2)).sequence == 2);
  CHECK(std::get<proto::State>(f.transport.message(id, 3)).credit == 8);
}

TEST_CASE("a block may be sent with another vector than it was reserved with") {
  Connected f;
  const core::PeerKey peer = f.dial();
  proto::Block wanted = block(1);
  wanted.source_index.reset();
  wanted.coefficients = {1, 2};
  const auto ticket = f.connections.reserve(peer, wanted);
  f.connections.fill(ticket, proto::Payload::allocate(10), {3, 4});
  const auto sent = std::get<proto::Block>(f.transport.message(f.transport.last, 0));
  CHECK(sent.coefficients == std::vector<std::uint8_t>{3, 4});
}

TEST_CASE("a block that could not be made is left out and counts as departed with no bytes") {
  Connected f;
  const core::PeerKey peer = f.dial();
  const auto first = f.connections.reserve(peer, block(1));
  const auto second = f.connections.reserve(peer, block(2));
  f.connections.fill(first, {});
  CHECK(f.owner.departed == std::vector<std::size_t>{0});
  f.connections.fill(second, proto::Payload::allocate(10));
  CHECK(f.transport.sent[f.transport.last].size() == 1);
}

TEST_CASE(
    "the owner hears of each block that has departed, in order, with the bytes of its frame") {
  Connected f;
  const core::PeerKey peer = f.dial();
  const ConnectionId id = f.transport.last;
  f.connections.send(peer, state(1));
  f.connections.fill(f.connections.reserve(peer, block(1)), proto::Payload::allocate(100));
  f.connections.fill(f.connections.reserve(peer, block(2)), proto::Payload::allocate(200));
  const std::size_t first = f.transport.sent[id][1].size() + proto::kFramePrefixBytes;
  const std::size_t second = f.transport.sent[id][2].size() + proto::kFramePrefixBytes;
  CHECK(f.owner.departed.empty());
  f.inbox.on_departed(id, f.transport.tags[id][1]);
  f.pump();
  CHECK(f.owner.departed == std::vector<std::size_t>{first});
  f.inbox.on_departed(id, f.transport.tags[id][2]);
  f.pump();
  CHECK(f.owner.departed == std::vector<std::size_t>{first, second});
  CHECK(f.owner.parts_departed == 0);
}

TEST_CASE("blocks that go together leave in one order, when all of them are made") {
  Connected f;
  const core::PeerKey peer = f.dial();
  const ConnectionId id = f.transport.last;
  const auto first = f.connections.reserve(peer, block(1), true);
  const auto second = f.connections.reserve(peer, block(2), true);
  const auto third = f.connections.reserve(peer, block(3));
  for (const auto ticket : {third, first})
    f.connections.fill(ticket, proto::Payload::allocate(100));
  CHECK(f.transport.sent[id].empty());
  SUBCASE("each made") {
    f.connections.fill(second, proto::Payload::allocate(100));
    REQUIRE(f.transport.sent[id].size() == 3);
    CHECK(f.transport.runs == 1);
    std::size_t bytes = 3 * proto::kFramePrefixBytes;
    for (std::uint32_t i = 0; i < 3; ++i) {
      CHECK(std::get<proto::Block>(f.transport.message(id, i)).sequence == i + 1);
      CHECK((f.transport.tags[id][i] == proto::transport::kUntagged) == (i < 2));
      bytes += f.transport.sent[id][i].size();
    }
    f.inbox.on_departed(id, f.transport.tags[id][2]);
    f.pump();
    CHECK(f.owner.departed == std::vector<std::size_t>{bytes});
    CHECK(f.owner.departed_together == std::vector<std::uint32_t>{3});
  }
  SUBCASE("one could not be made") {
    f.connections.fill(second, {});
    CHECK(f.transport.sent[id].empty());
    CHECK(f.owner.departed == std::vector<std::size_t>{0});
    CHECK(f.owner.departed_together == std::vector<std::uint32_t>{3});
  }
}

TEST_CASE("the owner hears of each part of a manifest that has departed") {
  Connected f;
  const core::PeerKey peer = f.dial();
  const ConnectionId id = f.transport.last;
  f.connections.send(peer, proto::ManifestPart{300, 0, std::string(300, 'm')});
  CHECK(f.owner.parts_departed == 0);
  f.inbox.on_departed(id, f.transport.tags[id][0]);
  f.pump();
  CHECK(f.owner.parts_departed == 1);
  CHECK(f.owner.departed.empty());
}

TEST_CASE("only blocks and parts of a manifest are asked after") {
  Connected f;
  const core::PeerKey peer = f.dial();
  const ConnectionId id = f.transport.last;
  f.connections.send(peer, state(1));
  f.connections.send(peer, proto::Hello{});
  f.connections.fill(f.connections.reserve(peer, block(1)), proto::Payload::allocate(1));
  f.connections.send(peer, proto::ManifestPart{3, 0, "abc"});
  const auto& tags = f.transport.tags[id];
  REQUIRE(tags.size() == 4);
  CHECK(tags[0] == proto::transport::kUntagged);
  CHECK(tags[1] == proto::transport::kUntagged);
  CHECK(tags[2] != proto::transport::kUntagged);
  CHECK(tags[3] != proto::transport::kUntagged);
}

TEST_CASE("what departs from a connection that was closed meanwhile is not told of") {
  Connected f;
  const core::PeerKey peer = f.dial();
  const ConnectionId id = f.transport.last;
  f.connections.fill(f.connections.reserve(peer, block(1)), proto::Payload::allocate(100));
  f.inbox.on_departed(id, f.transport.tags[id][0]);
  f.connections.close(peer);
  f.pump();
  CHECK(f.owner.departed.empty());
}

TEST_CASE("frames that depart in one turn wake the main thread once, when it is over") {
  int wakes = 0;
  TransportInbox inbox(1 << 20, [&] { ++wakes; });
  for (const ConnectionId id : {1, 2}) {
    inbox.on_departed(id, 10);
    inbox.on_departed(id, 11);
  }
  CHECK(wakes == 0);
  inbox.on_turn_over();
  CHECK(wakes == 1);
  std::vector<TransportEvent> events;
  inbox.take(events, 0);
  REQUIRE(events.size() == 4);
  CHECK(std::get<FrameDeparted>(events[1]).connection == 1);
  CHECK(std::get<FrameDeparted>(events[1]).tag == 11);
}

TEST_CASE("what a turn brings wakes the main thread once, when the turn is over") {
  int wakes = 0;
  FakeTransport transport;
  TransportInbox inbox(1 << 20, [&] { ++wakes; });
  inbox.attach(&transport);
  const auto frame = serialize(proto::PeerMessage(state(1))).head.substr(proto::kFramePrefixBytes);
  const std::vector<std::uint8_t> bytes(frame.begin(), frame.end());
  const auto deliver = [&](int times) {
    for (int i = 0; i < times; ++i) REQUIRE(inbox.on_frame(1, bytes).ok());
  };
  std::vector<TransportEvent> events;
  inbox.on_turn_over();
  CHECK(wakes == 0);
  deliver(3);
  CHECK(wakes == 0);
  inbox.on_turn_over();
  CHECK(wakes == 1);
  deliver(1);
  inbox.on_turn_over();
  CHECK(wakes == 1);  // it has not taken the first ones yet
  inbox.take(events, 0);
  CHECK(events.size() == 4);
  deliver(1);
  inbox.take(events, 0);  // it came for another reason
  inbox.on_turn_over();
  CHECK(wakes == 1);
  deliver(100'000 / static_cast<int>(bytes.size()));  // much: it may begin before the turn is over
  CHECK(wakes == 2);
  inbox.on_turn_over();
  CHECK(wakes == 2);
}

TEST_CASE("an accepted connection belongs to the content its hello names") {
  Connected f;
  f.open(77, false);
  CHECK(f.owner.opened.empty());
  proto::Hello hello;
  hello.content_id = f.served;
  f.arrive(77, hello);
  REQUIRE(f.owner.opened.size() == 1);
  CHECK(f.owner.attempts[0] == 0);
  REQUIRE(f.owner.messages.size() == 1);
  CHECK(std::holds_alternative<proto::Hello>(f.owner.messages[0]));
  f.inbox.on_close(77, {ErrorCode::kIo, "", ""});
  f.pump();
  CHECK(f.owner.closed == f.owner.opened);
}

TEST_CASE("a hello for a content that is not served is answered with a goodbye") {
  Connected f;
  f.open(77, false);
  f.arrive(77, proto::Hello{});
  CHECK(f.owner.opened.empty());
  const auto goodbye = std::get<proto::Goodbye>(f.transport.message(77, 0));
  CHECK(goodbye.reason == proto::GoodbyeReason::kNotServing);
  CHECK(f.transport.closed.contains(77));
}

TEST_CASE("a hello for a content that is not ready is answered with a goodbye that ends nothing") {
  Connected f;
  f.open(77, false);
  proto::Hello hello;
  hello.content_id = f.opening;
  f.arrive(77, hello);
  CHECK(f.owner.opened.empty());
  CHECK(std::get<proto::Goodbye>(f.transport.message(77, 0)).reason ==
        proto::GoodbyeReason::kUnspecified);
  CHECK(f.transport.closed.contains(77));
}

TEST_CASE("a stranger that begins with anything but a hello is sent away") {
  Connected f;
  f.open(77, false);
  f.arrive(77, state(1));
  CHECK(std::get<proto::Goodbye>(f.transport.message(77, 0)).reason ==
        proto::GoodbyeReason::kProtocolError);
  CHECK(f.transport.closed.contains(77));
}

TEST_CASE("an accepted connection that stays silent is closed after ten seconds") {
  Connected f;
  f.open(77, false);
  CHECK(f.connections.next_wake() == Connections::kHelloTimeout);
  f.connections.wake(Connections::kHelloTimeout - 1);
  CHECK_FALSE(f.transport.closed.contains(77));
  f.connections.wake(Connections::kHelloTimeout);
  CHECK(f.transport.closed.contains(77));
  CHECK(f.connections.next_wake() == core::kNever);
}

TEST_CASE("a peer is blamed for a connection that ends because of what it sent, and only then") {
  Connected f;
  const core::PeerKey honest = f.dial();
  f.inbox.on_close(f.transport.last, {ErrorCode::kUnreachable, "", "timed out"});
  const core::PeerKey rude = f.dial();
  f.inbox.on_close(f.transport.last, {ErrorCode::kProtocol, "read a frame", "rubbish"});
  f.pump();
  CHECK(f.owner.closed == std::vector<core::PeerKey>{honest});
  CHECK(f.owner.guilty == std::vector<core::PeerKey>{rude});
}

TEST_CASE("a connection that cannot be made fails its attempt") {
  Connected f;
  f.connections.connect(f.owner, 12, {{}, "host", 1});
  f.inbox.on_close(f.transport.last, {ErrorCode::kUnreachable, "", ""});
  f.pump();
  CHECK(f.owner.failed == std::vector<std::uint64_t>{12});
  CHECK(f.owner.closed.empty());
}

TEST_CASE("closing sends what is ready, leaves out what is being made, and tells nothing more") {
  Connected f;
  const core::PeerKey peer = f.dial();
  const ConnectionId id = f.transport.last;
  const auto ticket = f.connections.reserve(peer, block(1));
  f.connections.send(peer, proto::Goodbye{proto::GoodbyeReason::kShuttingDown, ""});
  f.connections.close(peer);
  REQUIRE(f.transport.sent[id].size() == 1);
  CHECK(std::holds_alternative<proto::Goodbye>(f.transport.message(id, 0)));
  CHECK(f.transport.closed.contains(id));
  CHECK(f.connections.closing_count() == 1);
  f.connections.fill(ticket, proto::Payload::allocate(10));
  CHECK(f.transport.sent[id].size() == 1);
  f.inbox.on_close(id, {ErrorCode::kCancelled, "", ""});
  f.pump();
  CHECK(f.owner.closed.empty());
  CHECK(f.connections.closing_count() == 0);
}

TEST_CASE("what waits behind a block is bounded: a connection past it is closed") {
  Connected f;
  const core::PeerKey peer = f.dial();
  const ConnectionId id = f.transport.last;
  const auto slow = f.connections.reserve(peer, block(1));
  proto::ManifestPart part;
  part.total_bytes = 64 << 20;
  part.data.assign(256 << 10, 'x');
  const std::size_t fit = Connections::kLineBytesMax / (257 << 10);
  for (std::size_t i = 0; i < fit; ++i) f.connections.send(peer, part);
  CHECK(f.transport.closed.empty());
  for (int i = 0; i < 2; ++i) f.connections.send(peer, part);
  CHECK(f.transport.closed.contains(id));
  f.connections.fill(slow, proto::Payload::allocate(10));
  CHECK(f.transport.sent[id].size() == 1 + fit);
  f.inbox.on_close(id, {ErrorCode::kCancelled, "x", "closed by this side"});
  f.pump();
  CHECK(f.owner.closed.size() == 1);
}

TEST_CASE("a full queue stops reading from the connection that fills it until it has been taken") {
  Connected f;
  f.open(1, false);
  proto::ManifestPart part;
  part.total_bytes = 8000;
  part.data.assign(6000, 'x');
  const auto frame = serialize(proto::PeerMessage(part));
  const std::string bytes = frame.head.substr(proto::kFramePrefixBytes);
  const std::span view(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  REQUIRE(f.inbox.on_frame(1, view).ok());
  CHECK(f.transport.paused.empty());
  REQUIRE(f.inbox.on_frame(1, view).ok());
  CHECK(f.transport.paused.at(1));
  std::vector<TransportEvent> events;
  f.inbox.take(events, 0);
  CHECK(events.size() == 2);
  CHECK_FALSE(f.transport.paused.at(1));
}

TEST_CASE(
    "a queue that is taken while a connection is being paused leaves it paused until the next") {
  Connected f;
  f.open(1, false);
  proto::ManifestPart part;
  part.total_bytes = 20'000;
  part.data.assign(15'000, 'x');
  const auto frame = serialize(proto::PeerMessage(part));
  const std::string bytes = frame.head.substr(proto::kFramePrefixBytes);
  std::vector<TransportEvent> events;
  f.transport.on_pause = [&] { f.inbox.take(events, 0); };  // as the main thread may, at any time
  REQUIRE(f.inbox.on_frame(1, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()})
              .ok());
  CHECK(f.transport.paused.at(1));
  f.inbox.take(events, 0);
  CHECK(events.size() == 1);
  CHECK_FALSE(f.transport.paused.at(1));
}

TEST_CASE("a frame that is no message closes its connection") {
  Connected f;
  f.open(1, false);
  const std::uint8_t rubbish[] = {0xff, 0xff, 0xff};
  CHECK_FALSE(f.inbox.on_frame(1, rubbish).ok());
}

}  // namespace
}  // namespace firn::app
