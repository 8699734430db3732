// What travels on open connections.
#include <doctest/doctest.h>

#include <atomic>
#include <string>

#include "proto/base/limits.h"
#include "tests/transport/recorder.h"
#include "tests/transport/stranger.h"

namespace firn::proto::transport::test {
namespace {

using namespace std::chrono_literals;

// Two transports with one open connection between them.
struct Pair {
  explicit Pair(const Options& options = {},
                std::function<Status(ConnectionId, std::span<const std::uint8_t>)> hook = {})
      : server(options), client(options) {
    server.recorder.frame_hook = std::move(hook);
    out = client.transport->connect(server.listen());
    REQUIRE(client.recorder.wait_open(out));
    in = server.recorder.wait_first();
    REQUIRE(server.recorder.wait_open(in));
  }
  // For the message of a test that failed.
  std::string account() {
    return "server: " + server.recorder.account(in) + "; client: " + client.recorder.account(out);
  }

  Node server;
  Node client;
  ConnectionId in = 0;   // at the server
  ConnectionId out = 0;  // at the client
};

TEST_CASE("frames of all sizes arrive whole, in order, both ways at once") {
  std::mt19937_64 random(1);
  std::vector<Bytes> up;
  std::vector<Bytes> down;
  for (int i = 0; i < 400; ++i) {
    up.push_back(random_bytes(random, 1 + random() % (i % 5 == 0 ? 70'000 : 400)));
    down.push_back(random_bytes(random, 1 + random() % (i % 7 == 0 ? 40'000 : 900)));
  }
  Options options;
  options.send_queue_bytes_max = 64 << 20;
  options.records_per_key = 5;  // keys change often, unnoticed
  Pair pair(options);
  INFO(pair.account());
  for (std::size_t i = 0; i < up.size(); ++i) {
    pair.client.transport->send(pair.out, frame_of(up[i], random() % 200));
    pair.server.transport->send(pair.in, frame_of(down[i], random() % 20'000));
  }
  REQUIRE(pair.server.recorder.wait_frames(pair.in, up.size()));
  REQUIRE(pair.client.recorder.wait_frames(pair.out, down.size()));
  CHECK(pair.server.recorder.connection(pair.in).frames == up);
  CHECK(pair.client.recorder.connection(pair.out).frames == down);
}

// A Block as a peer would send it; `padding` lengthens what comes before its payload.
OutgoingFrame block_frame(std::mt19937_64& random, std::size_t payload_bytes, std::size_t padding) {
  Block block;
  block.sequence = 1;
  block.coefficients = random_bytes(random, 1 + padding);
  block.payload = Payload::copy_of(random_bytes(random, payload_bytes));
  return serialize(PeerMessage(block));
}

Bytes body_of(const OutgoingFrame& frame) {
  Bytes body(frame.head.begin() + kFramePrefixBytes, frame.head.end());
  body.insert(body.end(), frame.payload.bytes().begin(), frame.payload.bytes().end());
  return body;
}

TEST_CASE("payloads that are received in place arrive whole, in order, among other frames") {
  std::mt19937_64 random(2);
  Options options;
  options.send_queue_bytes_max = 64 << 20;
  options.records_per_key = 5;
  options.find_payload = find_payload;
  Pair pair(options);
  INFO(pair.account());
  std::vector<Bytes> sent;
  for (int i = 0; i < 600; ++i) {
    OutgoingFrame frame = frame_of(random_bytes(random, 1 + random() % 900));
    if (random() % 4 != 0) {
      const std::size_t bytes = random() % 3 != 0 ? 16384 : 1 + random() % 70'000;
      frame = block_frame(random, bytes, random() % 600);
    }
    sent.push_back(body_of(frame));
    pair.client.transport->send(pair.out, std::move(frame));
    if (i % 100 == 50) pair.server.transport->pause_reading(pair.in, true);
    if (i % 100 == 70) pair.server.transport->pause_reading(pair.in, false);
  }
  REQUIRE(pair.server.recorder.wait_frames(pair.in, sent.size()));
  CHECK(pair.server.recorder.connection(pair.in).frames == sent);
  CHECK(pair.server.recorder.payloads > 200);
}

TEST_CASE("loops that rest between their turns lose nothing") {
  Options options;
  options.turn_interval = 2ms;
  Pair pair(options);
  std::vector<Bytes> sent;
  for (std::size_t i = 0; i < 100; ++i) {  // each waits for the one before: too little to be fast
    sent.push_back(Bytes(1 + i, static_cast<std::uint8_t>(i)));
    pair.client.transport->send(pair.out, frame_of(sent.back()));
    pair.server.transport->send(pair.in, frame_of(sent.back()));
    REQUIRE(pair.server.recorder.wait_frames(pair.in, i + 1));
    REQUIRE(pair.client.recorder.wait_frames(pair.out, i + 1));
  }
  CHECK(pair.server.recorder.connection(pair.in).frames == sent);
  CHECK(pair.client.recorder.connection(pair.out).frames == sent);
}

TEST_CASE("a loop that rests is stopped at once") {
  Options options;
  options.turn_interval =
      24h;  // a loop that is not woken from that rest fails by the test's time limit
  Node node(options);
  const Address where = node.listen();
  // One stranger at a time: it is sent away while the loop has turns left, and soon waits in vain.
  for (int i = 0; i < 100; ++i) {
    const Socket socket = plain_connection(where);
    const timeval briefly{0, 2000};
    ::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &briefly, sizeof briefly);
    ::send(socket.fd(), "no TLS", 6, MSG_NOSIGNAL);
    (void)ends(socket);
  }
  node.transport.reset();
}

TEST_CASE("the largest frame passes, and the departure of what is tagged is told once, in order") {
  std::mt19937_64 random(2);
  Pair pair;
  const Bytes body = random_bytes(random, limits::kFrameBytesMax);
  pair.client.transport->send(pair.out, frame_of(body, 60), 7);
  pair.client.transport->send(pair.out, frame_of(body, body.size()));
  pair.client.transport->send(pair.out, frame_of(Bytes{1}), 7);
  pair.client.transport->send(pair.out, frame_of(Bytes{2}), 3);
  REQUIRE(pair.server.recorder.wait_frames(pair.in, 4));
  CHECK(pair.server.recorder.connection(pair.in).frames ==
        std::vector<Bytes>{body, body, {1}, {2}});
  CHECK(pair.client.recorder.wait(
      [&](const auto& all) { return all.at(pair.out).departed.size() >= 3; }));
  CHECK(pair.client.recorder.connection(pair.out).departed == std::vector<FrameTag>{7, 7, 3});
}

TEST_CASE("a frame that the other side does not take has not departed") {
  Options options;
  options.send_queue_bytes_max = 64 << 20;
  Pair pair(options);
  pair.server.transport->pause_reading(pair.in, true);
  const Bytes body(1 << 20);
  constexpr FrameTag kFrames = 40;  // more than the kernels of both sides hold
  for (FrameTag tag = 1; tag <= kFrames; ++tag)
    pair.client.transport->send(pair.out, frame_of(body, 10), tag);
  // Another connection on the same threads shows that they have had their turns.
  REQUIRE(pair.client.recorder.wait_open(pair.client.transport->connect(pair.server.listen())));
  CHECK(pair.client.recorder.connection(pair.out).departed.size() < kFrames);
  pair.server.transport->pause_reading(pair.in, false);
  REQUIRE(pair.client.recorder.wait(
      [&](const auto& all) { return all.at(pair.out).departed.size() == kFrames; }));
  const auto departed = pair.client.recorder.connection(pair.out).departed;
  for (FrameTag tag = 1; tag <= kFrames; ++tag) CHECK(departed[tag - 1] == tag);
}

TEST_CASE("a frame over the largest size closes the connection as a broken protocol") {
  Pair pair;
  OutgoingFrame lie;
  lie.head = std::string("\xff\xff\xff\xff", 4) + "x";
  pair.client.transport->send(pair.out, lie);
  REQUIRE(pair.server.recorder.wait_closed(pair.in));
  CHECK(pair.server.recorder.ending(pair.in).code == ErrorCode::kProtocol);
  REQUIRE(pair.client.recorder.wait_closed(pair.out));
}

TEST_CASE("close sends what is queued first, and both sides see one end") {
  std::mt19937_64 random(3);
  Pair pair;
  std::vector<Bytes> sent;
  for (int i = 0; i < 40; ++i) {
    sent.push_back(random_bytes(random, 50'000));
    pair.client.transport->send(pair.out, frame_of(sent.back(), 10));
  }
  pair.client.transport->close(pair.out);
  pair.client.transport->send(pair.out, frame_of(Bytes{1, 2, 3}));  // too late: ignored
  pair.client.transport->close(pair.out);
  REQUIRE(pair.client.recorder.wait_closed(pair.out));
  REQUIRE(pair.server.recorder.wait_closed(pair.in));
  CHECK(pair.client.recorder.ending(pair.out).code == ErrorCode::kCancelled);
  CHECK(pair.server.recorder.ending(pair.in).code == ErrorCode::kIo);
  CHECK(pair.server.recorder.connection(pair.in).frames == sent);
}

TEST_CASE("close delivers the last frame although the other side is sending all the time") {
  std::mt19937_64 random(4);
  Options options;
  options.send_queue_bytes_max = 64 << 20;
  Pair pair(options);
  const Bytes bulk = random_bytes(random, 60'000);
  for (int i = 0; i < 300; ++i) pair.server.transport->send(pair.in, frame_of(bulk, 10));
  const Bytes goodbye{'b', 'y', 'e'};
  pair.client.transport->send(pair.out, frame_of(goodbye));
  pair.client.transport->close(pair.out);
  REQUIRE(pair.server.recorder.wait_closed(pair.in));
  CHECK(pair.server.recorder.connection(pair.in).frames == std::vector<Bytes>{goodbye});
}

TEST_CASE("blocks of a run arrive in order, and depart with the last one's tag") {
  Pair pair;
  pair.client.transport->send(pair.out, frame_of(Bytes{1}), 7);
  std::vector<Block> run;
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    Block block;
    block.generation = 3;
    block.sequence = i + 1;
    block.source_index = i;
    block.payload = Payload::copy_of(Bytes(100 * (i + 1), static_cast<std::uint8_t>(i)));
    bytes += wire_bytes(block);
    run.push_back(std::move(block));
  }
  const std::vector<Block> sent = run;
  pair.client.transport->send_run(pair.out, std::move(run), bytes, 8);
  pair.client.transport->send(pair.out, frame_of(Bytes{6}), 9);
  REQUIRE(pair.server.recorder.wait_frames(pair.in, 6));
  const std::vector<Bytes> frames = pair.server.recorder.connection(pair.in).frames;
  CHECK(frames.front() == Bytes{1});
  CHECK(frames.back() == Bytes{6});
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto came = parse_peer_message(frames[i + 1]);
    REQUIRE(came.ok());
    CHECK(std::get<Block>(*came) == sent[i]);
  }
  CHECK(pair.client.recorder.wait(
      [&](const auto& all) { return all.at(pair.out).departed.size() >= 3; }));
  CHECK(pair.client.recorder.connection(pair.out).departed == std::vector<FrameTag>{7, 8, 9});
}

TEST_CASE("an error from on_frame closes the connection with it, after a last frame") {
  Transport* transport = nullptr;
  const auto hook = [&](ConnectionId id, std::span<const std::uint8_t>) -> Status {
    transport->send(id, frame_of(Bytes{9}));
    transport->send(id, frame_of(Bytes{8}));
    return Error{ErrorCode::kProtocol, "read message", "nonsense"};
  };
  Pair pair({}, hook);
  transport = pair.server.transport.get();
  pair.client.transport->send(pair.out, frame_of(Bytes{1}));
  pair.client.transport->send(pair.out, frame_of(Bytes{2}));
  REQUIRE(pair.server.recorder.wait_closed(pair.in));
  CHECK(pair.server.recorder.ending(pair.in).code == ErrorCode::kProtocol);
  CHECK(pair.server.recorder.ending(pair.in).detail == "nonsense");
  CHECK(pair.server.recorder.connection(pair.in).frames.size() == 1);
  REQUIRE(pair.client.recorder.wait_closed(pair.out));
  CHECK(pair.client.recorder.connection(pair.out).frames == std::vector<Bytes>{{9}, {8}});
}

TEST_CASE("a connection whose send queue overflows is closed") {
  Options options;
  options.send_queue_bytes_max = 1 << 20;
  Pair pair(options);
  pair.server.transport->pause_reading(pair.in, true);
  std::mt19937_64 random(5);
  const Bytes body = random_bytes(random, 200'000);
  SUBCASE("little by little") {
    // Kernel buffers are bounded too, so this ends.
    while (pair.client.recorder.connection(pair.out).closed.empty())
      pair.client.transport->send(pair.out, frame_of(body, 10));
  }
  SUBCASE("at once") {
    for (int i = 0; i < 2000; ++i) pair.client.transport->send(pair.out, frame_of(body, 10));
  }
  REQUIRE(pair.client.recorder.wait_closed(pair.out));
  const Error error = pair.client.recorder.ending(pair.out);
  CHECK(error.code == ErrorCode::kIo);
  CHECK(error.message().find("1048576") != std::string::npos);
}

TEST_CASE("a paused connection delivers little, and everything once it goes on") {
  constexpr int kFrames = 300;
  Options options;
  options.send_queue_bytes_max = 64 << 20;
  options.idle_timeout = 100ms;  // does not run while paused
  Options patient = options;
  patient.idle_timeout = 0ms;
  Node server(options);
  Node client(patient);
  const ConnectionId out = client.transport->connect(server.listen());
  const ConnectionId in = server.recorder.wait_first();
  server.transport->pause_reading(in, true);
  REQUIRE(client.recorder.wait_open(out));
  std::mt19937_64 random(6);
  const Bytes body = random_bytes(random, 60'000);
  for (int i = 0; i < kFrames; ++i) client.transport->send(out, frame_of(body, 10));
  // Another connection through the same threads shows that time has passed for them.
  for (int i = 0; i < 3; ++i) {
    const ConnectionId other =
        client.transport->connect(server.transport->listen(Address{{}, "127.0.0.1", 0}).value());
    REQUIRE(client.recorder.wait_closed(other));  // idle: 100 ms
  }
  CHECK(server.recorder.connection(in).closed.empty());
  CHECK(server.recorder.connection(in).frames.size() < kFrames);
  server.transport->pause_reading(in, false);
  REQUIRE(server.recorder.wait_frames(in, kFrames));
}

TEST_CASE("pausing within on_frame holds back even the frames that have arrived") {
  Transport* transport = nullptr;
  const auto hook = [&](ConnectionId id, std::span<const std::uint8_t>) -> Status {
    transport->pause_reading(id, true);
    return Done{};
  };
  Pair pair({}, hook);
  transport = pair.server.transport.get();
  for (std::uint8_t i = 0; i < 50; ++i) pair.client.transport->send(pair.out, frame_of(Bytes{i}));
  for (std::size_t i = 1; i <= 50; ++i) {
    REQUIRE(pair.server.recorder.wait_frames(pair.in, i));
    CHECK(pair.server.recorder.connection(pair.in).frames.size() == i);
    transport->pause_reading(pair.in, false);
  }
}

TEST_CASE("a paused connection whose other side takes nothing is closed after the idle timeout") {
  Options options;
  options.idle_timeout = 100ms;
  options.send_queue_bytes_max = 64 << 20;
  Options patient;
  patient.idle_timeout = 0ms;
  Node server(options);
  Node client(patient);
  const ConnectionId out = client.transport->connect(server.listen());
  const ConnectionId in = server.recorder.wait_first();
  server.transport->pause_reading(in, true);
  client.transport->pause_reading(out, true);
  for (int i = 0; i < 200; ++i) server.transport->send(in, frame_of(Bytes(200'000)));
  REQUIRE(server.recorder.wait_closed(in));
  CHECK(server.recorder.ending(in).code == ErrorCode::kIo);
  CHECK(server.recorder.ending(in).detail == "the other side took nothing for 100 ms");
}

TEST_CASE("a goodbye is read although writing to the other side already fails") {
  // The server says goodbye and closes while the client's frames pour in.
  Transport* transport = nullptr;
  const auto hook = [&](ConnectionId id, std::span<const std::uint8_t>) -> Status {
    transport->send(id, frame_of(Bytes{'b', 'y', 'e'}));
    return Error{ErrorCode::kProtocol, "read message", "nonsense"};
  };
  for (int round = 0; round < 20; ++round) {
    Options options;
    options.send_queue_bytes_max = 64 << 20;
    Pair pair(options, hook);
    transport = pair.server.transport.get();
    for (int i = 0; i < 100; ++i) pair.client.transport->send(pair.out, frame_of(Bytes(100'000)));
    REQUIRE(pair.client.recorder.wait_closed(pair.out));
    CHECK(pair.client.recorder.connection(pair.out).frames == std::vector<Bytes>{{'b', 'y', 'e'}});
    REQUIRE(pair.server.recorder.wait_closed(pair.in));
  }
}

TEST_CASE("a transport may be destroyed in full flight") {
  std::mt19937_64 random(10);
  const Bytes body = random_bytes(random, 30'000);
  for (int round = 0; round < 10; ++round) {
    Options options;
    options.io_threads = 1 + round % 2;
    options.send_queue_bytes_max = 256 << 20;
    Pair pair(options);
    for (int i = 0; i < 200; ++i) {
      pair.client.transport->send(pair.out, frame_of(body, 10));
      pair.server.transport->send(pair.in, frame_of(body, 10));
    }
    for (int i = 0; i < 5; ++i) pair.client.transport->connect(pair.server.listen());
    pair.client.transport->connect(Address{{}, "localhost", 1});
    if (round % 3 == 0) REQUIRE(pair.server.recorder.wait_frames(pair.in, 20));
    if (round % 3 == 1) pair.client.transport->close(pair.out);
    if (round % 2 == 0) pair.client.transport.reset();
    const std::size_t events = pair.client.recorder.connection(pair.out).frames.size();
    if (round % 2 == 0) {
      pair.server.transport.reset();
      CHECK(pair.client.recorder.connection(pair.out).frames.size() == events);
    }
  }
}

}  // namespace
}  // namespace firn::proto::transport::test
