// What the transport's I/O threads tell the main thread: parsed messages and the fate of
// connections, in order per connection, through one queue.
//
// Bound: while the messages that wait take more than `bytes_max` of memory, connections that
// deliver more are no longer read (TCP then slows their senders down); they are read again once the
// main thread has taken the queue. Overshoot: a frame of each connection. Within that a connection
// has a share and a rate of its own for control messages (read_shares.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_set>
#include <variant>
#include <vector>

#include "client/app/net/read_shares.h"
#include "client/core/base/types.h"
#include "proto/messages.h"
#include "proto/transport/transport.h"

namespace firn::app {

using proto::transport::ConnectionId;

struct ConnectionOpened {
  ConnectionId connection;
  proto::transport::PeerInfo info;
};
struct MessageArrived {
  ConnectionId connection;
  proto::PeerMessage message;
  std::size_t frame_bytes;
};
struct ReplyArrived {
  ConnectionId connection;
  proto::TrackerReply reply;
};
struct FrameDeparted {
  ConnectionId connection;
  proto::transport::FrameTag tag;
};
struct ConnectionClosed {
  ConnectionId connection;
  Error error;
};
using TransportEvent =
    std::variant<ConnectionOpened, MessageArrived, ReplyArrived, FrameDeparted, ConnectionClosed>;

class TransportInbox final : public proto::transport::EventSink {
 public:
  // `wake` is called from I/O threads: after a turn in which the queue stopped being empty, so that
  // what it brings is taken together, or within one that brings much.
  TransportInbox(std::size_t bytes_max, std::function<void()> wake);

  // Needed before events can come; `transport` must be the one this sink serves.
  void attach(proto::transport::Transport* transport) { transport_ = transport; }

  // --- main thread ---
  // Swaps the queue into `events` (emptied first) and lets paused connections be read again, those
  // that send too many control messages when they may.
  void take(std::vector<TransportEvent>& events, core::TimeUs now);
  // When to take() at the latest, though nothing wakes the main thread.
  core::TimeUs next_wake();
  // Frames on this connection are a tracker's replies. Before the first request is sent.
  void expect_replies(ConnectionId connection);

  // --- I/O threads ---
  void on_open(ConnectionId connection, const proto::transport::PeerInfo& info) override;
  Status on_frame(ConnectionId connection, std::span<const std::uint8_t> frame) override;
  Status on_payload(ConnectionId connection, std::span<const std::uint8_t> head,
                    proto::Payload payload) override;
  void on_departed(ConnectionId connection, proto::transport::FrameTag tag) override;
  void on_close(ConnectionId connection, const Error& error) override;
  void on_turn_over() override;

 private:
  bool is_tracker(ConnectionId connection);
  Status take_reply(ConnectionId connection, std::span<const std::uint8_t> frame);
  Status take_message(ConnectionId connection, Result<proto::PeerMessage> message,
                      std::size_t frame_bytes);
  // Of the connection, which is read no further where that much is waiting.
  void deliver(ConnectionId connection, TransportEvent event, std::size_t frame_bytes,
               std::size_t memory_bytes);
  // True: the main thread must be woken at once, without the lock, which it takes.
  [[nodiscard]] bool push(TransportEvent event, std::size_t bytes);

  const std::size_t bytes_max_;
  const std::function<void()> wake_;
  std::atomic<proto::transport::Transport*> transport_ = nullptr;

  std::mutex mutex_;
  std::vector<TransportEvent> events_;
  std::size_t bytes_ = 0;
  bool wake_due_ = false;  // events_ is not empty, and the main thread was not woken for it
  std::unordered_set<ConnectionId> trackers_;
  ReadShares shares_;
};

}  // namespace firn::app
