// A sink that keeps what happened, for tests to wait on and look at; and frames to send.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "proto/framing.h"
#include "proto/transport/transport.h"

namespace firn::proto::transport::test {

using Bytes = std::vector<std::uint8_t>;

// Long enough for the slowest sanitizer; only a test that fails waits for it.
inline constexpr std::chrono::seconds kPatience{60};

inline Bytes random_bytes(std::mt19937_64& random, std::size_t bytes) {
  Bytes result(bytes);
  for (auto& byte : result) byte = static_cast<std::uint8_t>(random());
  return result;
}

// `body` as a frame, the first `head_bytes` of it in the head and the rest as payload.
inline OutgoingFrame frame_of(const Bytes& body, std::size_t head_bytes = ~std::size_t{0}) {
  OutgoingFrame frame;
  const auto length = static_cast<std::uint32_t>(body.size());
  for (int shift = 24; shift >= 0; shift -= 8)
    frame.head.push_back(static_cast<char>(length >> shift & 0xff));
  const std::size_t in_head = std::min(head_bytes, body.size());
  frame.head.append(reinterpret_cast<const char*>(body.data()), in_head);
  if (in_head < body.size()) frame.payload = Payload::copy_of(std::span(body).subspan(in_head));
  return frame;
}

class Recorder : public EventSink {
 public:
  struct Connection {
    PeerInfo info;
    bool open = false;
    std::vector<Bytes> frames;
    std::vector<FrameTag> departed;
    std::vector<Error> closed;
  };

  // Called within on_frame before the frame is noted; set it before frames come.
  std::function<Status(ConnectionId, std::span<const std::uint8_t>)> frame_hook;

  std::atomic<std::size_t> payloads = 0;  // frames whose payload was received in place

  void on_open(ConnectionId id, const PeerInfo& info) override {
    change([&] {
      connections_[id].info = info;
      connections_[id].open = true;
    });
  }
  Status on_frame(ConnectionId id, std::span<const std::uint8_t> frame) override {
    const Status status = frame_hook ? frame_hook(id, frame) : Status(Done{});
    change([&] { connections_[id].frames.emplace_back(frame.begin(), frame.end()); });
    return status;
  }
  Status on_payload(ConnectionId id, std::span<const std::uint8_t> head, Payload payload) override {
    ++payloads;
    return EventSink::on_payload(id, head, std::move(payload));
  }
  void on_departed(ConnectionId id, FrameTag tag) override {
    change([&] { connections_[id].departed.push_back(tag); });
  }
  void on_close(ConnectionId id, const Error& error) override {
    change([&] { connections_[id].closed.push_back(error); });
  }

  // Waits until `happened(connections)`; false if patience ran out.
  bool wait(const std::function<bool(const std::map<ConnectionId, Connection>&)>& happened) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return happened(connections_); });
  }
  bool wait_open(ConnectionId id) {
    return wait([id](const auto& all) { return all.contains(id) && all.at(id).open; });
  }
  bool wait_closed(ConnectionId id) {
    return wait([id](const auto& all) { return all.contains(id) && !all.at(id).closed.empty(); });
  }
  // False too as soon as it is closed with fewer: account() says why.
  bool wait_frames(ConnectionId id, std::size_t count) {
    wait([=](const auto& all) {
      return all.contains(id) && (all.at(id).frames.size() >= count || !all.at(id).closed.empty());
    });
    return connection(id).frames.size() >= count;
  }
  // The number of the first connection, once there is one.
  ConnectionId wait_first() {
    ConnectionId id = 0;
    wait([&](const auto& all) {
      if (!all.empty()) id = all.begin()->first;
      return id != 0;
    });
    return id;
  }

  Connection connection(ConnectionId id) {
    const std::lock_guard lock(mutex_);
    return connections_[id];
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return connections_.size();
  }
  // What became of `id`, in words.
  std::string account(ConnectionId id) {
    const Connection it = connection(id);
    std::string said = std::to_string(it.frames.size()) + " frames came";
    for (const Error& error : it.closed) said += "; " + error.message();
    return said;
  }
  // How the one end of `id` was told; kInternal if it was told not once.
  Error ending(ConnectionId id) {
    const auto closed = connection(id).closed;
    return closed.size() == 1 ? closed.front() : Error{ErrorCode::kInternal, "not one end", ""};
  }

 private:
  template <typename F>
  void change(F&& apply) {
    const std::lock_guard lock(mutex_);
    apply();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<ConnectionId, Connection> connections_;
};

// A transport with its own fresh identity and recorder.
struct Node {
  explicit Node(Options options = {}) : identity(Identity::generate().value()) {
    transport = Transport::start(identity, recorder, options).value();
  }
  Address listen(const std::string& host = "127.0.0.1") {
    return transport->listen(Address{{}, host, 0}).value();
  }

  Identity identity;
  Recorder recorder;
  std::unique_ptr<Transport> transport;
};

}  // namespace firn::proto::transport::test
