// How fast one connection moves frames between two transports in this process (not a test), and
// the processor time (user and system, both sides together) that a gigabyte takes: that figure
// stands still when other programs run beside it.
//   bench_transport [SECONDS]
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "proto/transport/transport.h"

namespace firn::proto::transport {
namespace {

using Clock = std::chrono::steady_clock;

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Receiver : EventSink {
  std::atomic<std::uint64_t> bytes{0};
  void on_open(ConnectionId, const PeerInfo&) override {}
  Status on_frame(ConnectionId, std::span<const std::uint8_t> frame) override {
    bytes.fetch_add(frame.size(), std::memory_order_relaxed);
    return Done{};
  }
  void on_departed(ConnectionId, FrameTag) override {}
  void on_close(ConnectionId, const Error& error) override {
    if (error.code != ErrorCode::kIo) std::fprintf(stderr, "%s\n", error.message().c_str());
  }
};

// Keeps `queue_bytes` on their way out of its connection.
struct Sender : EventSink {
  Sender(std::size_t payload_bytes, std::size_t queue) : queue_bytes(queue) {
    const std::uint32_t length = static_cast<std::uint32_t>(payload_bytes) + 96;
    for (int shift = 24; shift >= 0; shift -= 8)
      frame.head.push_back(static_cast<char>(length >> shift & 0xff));
    frame.head.append(96, 'v');
    frame.payload = Payload::allocate(payload_bytes);
    for (auto& byte : frame.payload.writable()) byte = 'p';
  }
  void on_open(ConnectionId id, const PeerInfo&) override {
    for (std::size_t queued = 0; queued < queue_bytes; queued += frame.bytes()) send_one(id);
  }
  void send_one(ConnectionId id) { transport->send(id, frame, 1); }
  Status on_frame(ConnectionId, std::span<const std::uint8_t>) override { return Done{}; }
  void on_departed(ConnectionId id, FrameTag) override { send_one(id); }
  void on_close(ConnectionId, const Error& error) override {
    std::fprintf(stderr, "%s\n", error.message().c_str());
  }
  Transport* transport = nullptr;
  OutgoingFrame frame;
  std::size_t queue_bytes;
};

void measure(std::size_t payload_bytes, std::size_t queue_bytes, double seconds) {
  const Identity identity = Identity::generate().value();
  Receiver receiver;
  Sender sender(payload_bytes, queue_bytes);
  const auto server = Transport::start(identity, receiver).value();
  const auto client = Transport::start(identity, sender).value();
  sender.transport = client.get();
  client->connect(server->listen(Address{{}, "127.0.0.1", 0}).value());
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  const auto pause = [&](double length) {
    never.wait_for(lock, std::chrono::duration<double>(length), [] { return false; });
  };
  pause(0.3);  // until TCP has found its window
  const auto begin = Clock::now();
  const std::uint64_t first = receiver.bytes.load();
  const double busy_before = processor_seconds();
  pause(seconds);
  const std::uint64_t moved = receiver.bytes.load() - first;
  const double busy = processor_seconds() - busy_before;
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  const double gigabytes = static_cast<double>(moved) / 1e9;
  std::printf("payload %6zu B, %4zu KiB queued: %.2f GB/s, %.2f processor seconds per GB\n",
              payload_bytes, queue_bytes >> 10, gigabytes / elapsed, busy / gigabytes);
}

}  // namespace
}  // namespace firn::proto::transport

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2.0;
  for (const std::size_t payload : {16u << 10, 64u << 10}) {
    firn::proto::transport::measure(payload, payload, seconds);
    firn::proto::transport::measure(payload, 1u << 20, seconds);
  }
}
