#include "client/app/net/transport_inbox.h"

#include <utility>

#include "proto/base/stage_times.h"
#include "proto/framing.h"

namespace firn::app {
namespace {

// This much wakes the main thread at once: on fast links both are at work at the same time.
constexpr std::size_t kMuchBytes = 64 << 10;

}  // namespace

TransportInbox::TransportInbox(std::size_t bytes_max, std::function<void()> wake)
    : bytes_max_(bytes_max), wake_(std::move(wake)) {}

void TransportInbox::take(std::vector<TransportEvent>& events) {
  events.clear();
  std::unordered_set<ConnectionId> resumed;
  {
    std::lock_guard lock(mutex_);
    events.swap(events_);
    bytes_ = 0;
    wake_due_ = false;
    resumed.swap(paused_);
  }
  for (ConnectionId connection : resumed) transport_.load()->pause_reading(connection, false);
}

void TransportInbox::expect_replies(ConnectionId connection) {
  std::lock_guard lock(mutex_);
  trackers_.insert(connection);
}

bool TransportInbox::push(TransportEvent event, std::size_t bytes) {
  if (events_.empty()) wake_due_ = true;
  events_.push_back(std::move(event));
  bytes_ += bytes;
  return bytes_ >= kMuchBytes && std::exchange(wake_due_, false);
}

void TransportInbox::on_turn_over() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(wake_due_, false)) return;
  }
  wake_();
}

void TransportInbox::on_open(ConnectionId connection, const proto::transport::PeerInfo& info) {
  std::unique_lock lock(mutex_);
  const bool wake = push(ConnectionOpened{connection, info}, 0);
  lock.unlock();
  if (wake) wake_();
}

Status TransportInbox::on_frame(ConnectionId connection, std::span<const std::uint8_t> frame) {
  const StageScope stage(Stage::kMessages);
  const std::size_t frame_bytes = frame.size() + proto::kFramePrefixBytes;
  bool is_reply = false, full = false;
  {
    std::lock_guard lock(mutex_);
    is_reply = trackers_.contains(connection);
    full = bytes_ + frame_bytes > bytes_max_;
  }
  TransportEvent event;
  if (is_reply) {
    auto reply = proto::parse_tracker_reply(frame);
    if (!reply.ok()) return reply.error();
    event = ReplyArrived{connection, *std::move(reply)};
  } else {
    auto message = proto::parse_peer_message(frame);
    if (!message.ok()) {
      const proto::Goodbye goodbye{proto::GoodbyeReason::kProtocolError, message.error().detail};
      transport_.load()->send(connection, serialize(proto::PeerMessage(goodbye)));
      return message.error();
    }
    event = MessageArrived{connection, *std::move(message), frame_bytes};
  }
  // Before the frame and the pause are noted: the take() that finds them ends the pause.
  if (full) transport_.load()->pause_reading(connection, true);
  std::unique_lock lock(mutex_);
  if (full) paused_.insert(connection);
  const bool wake = push(std::move(event), frame_bytes);
  lock.unlock();
  if (wake) wake_();
  return Done{};
}

void TransportInbox::on_departed(ConnectionId connection, proto::transport::FrameTag tag) {
  std::unique_lock lock(mutex_);
  const bool wake = push(FrameDeparted{connection, tag}, 0);
  lock.unlock();
  if (wake) wake_();
}

void TransportInbox::on_close(ConnectionId connection, const Error& error) {
  std::unique_lock lock(mutex_);
  trackers_.erase(connection);
  paused_.erase(connection);
  const bool wake = push(ConnectionClosed{connection, error}, 0);
  lock.unlock();
  if (wake) wake_();
}

}  // namespace firn::app
