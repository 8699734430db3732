#include "client/app/net/transport_inbox.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "proto/base/stage_times.h"
#include "proto/framing.h"

namespace firn::app {
namespace {

// This much wakes the main thread at once: on fast links both are at work at the same time.
constexpr std::size_t kMuchBytes = 64 << 10;
// Of the queue, for the control messages of one connection: room for the largest States.
constexpr std::size_t kShares = 32;
constexpr std::size_t kShareLeast = 256 << 10;

// What an event takes while it waits. A vector that grows has as much again in reserve.
template <typename Message>
std::size_t memory_of(const Message& message, std::size_t frame_bytes) {
  if constexpr (std::is_same_v<Message, proto::PeerMessage>) {
    return 2 * sizeof(TransportEvent) + proto::heap_bytes(message);
  } else {
    return 2 * sizeof(TransportEvent) + frame_bytes;
  }
}

// Messages that nothing bounds but what is read of them. Parts of manifests come when asked for.
bool is_control(const TransportEvent& event) {
  const auto* arrived = std::get_if<MessageArrived>(&event);
  return arrived != nullptr && !std::holds_alternative<proto::Block>(arrived->message) &&
         !std::holds_alternative<proto::ManifestPart>(arrived->message);
}

}  // namespace

TransportInbox::TransportInbox(std::size_t bytes_max, std::function<void()> wake)
    : bytes_max_(bytes_max),
      wake_(std::move(wake)),
      shares_(std::max(bytes_max / kShares, std::min(bytes_max, kShareLeast))) {}

void TransportInbox::take(std::vector<TransportEvent>& events, core::TimeUs now) {
  events.clear();
  std::vector<ReadShares::Change> changes;
  {
    std::lock_guard lock(mutex_);
    events.swap(events_);
    bytes_ = 0;
    wake_due_ = false;
    changes = shares_.taken(now);
  }
  for (const auto& [connection, pause] : changes)
    transport_.load()->pause_reading(connection, pause);
}

core::TimeUs TransportInbox::next_wake() {
  const std::lock_guard lock(mutex_);
  return shares_.next_due();
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

bool TransportInbox::is_tracker(ConnectionId connection) {
  const std::lock_guard lock(mutex_);
  return trackers_.contains(connection);
}

Status TransportInbox::on_frame(ConnectionId connection, std::span<const std::uint8_t> frame) {
  const StageScope stage(Stage::kMessages);
  if (is_tracker(connection)) return take_reply(connection, frame);
  return take_message(connection, proto::parse_peer_message(frame), frame.size());
}

Status TransportInbox::on_payload(ConnectionId connection, std::span<const std::uint8_t> head,
                                  proto::Payload payload) {
  // What looks like a block may be a tracker's reply.
  if (is_tracker(connection)) return EventSink::on_payload(connection, head, std::move(payload));
  const StageScope stage(Stage::kMessages);
  const std::size_t frame_bytes = head.size() + payload.size();
  return take_message(connection, proto::parse_peer_message(head, std::move(payload)), frame_bytes);
}

Status TransportInbox::take_reply(ConnectionId connection, std::span<const std::uint8_t> frame) {
  auto reply = proto::parse_tracker_reply(frame);
  if (!reply.ok()) return reply.error();
  const std::size_t frame_bytes = frame.size() + proto::kFramePrefixBytes;
  const std::size_t memory_bytes = memory_of(*reply, frame_bytes);
  deliver(connection, ReplyArrived{connection, *std::move(reply)}, frame_bytes, memory_bytes);
  return Done{};
}

Status TransportInbox::take_message(ConnectionId connection, Result<proto::PeerMessage> message,
                                    std::size_t frame_bytes) {
  if (!message.ok()) {
    const proto::Goodbye goodbye{proto::GoodbyeReason::kProtocolError, message.error().detail};
    transport_.load()->send(connection, serialize(proto::PeerMessage(goodbye)));
    return message.error();
  }
  frame_bytes += proto::kFramePrefixBytes;
  const std::size_t memory_bytes = memory_of(*message, frame_bytes);
  deliver(connection, MessageArrived{connection, *std::move(message), frame_bytes}, frame_bytes,
          memory_bytes);
  return Done{};
}

void TransportInbox::deliver(ConnectionId connection, TransportEvent event, std::size_t frame_bytes,
                             std::size_t memory_bytes) {
  const bool control = is_control(event);
  std::unique_lock lock(mutex_);
  const bool full =
      bytes_ + memory_bytes > bytes_max_ || (control && shares_.fills(connection, memory_bytes));
  if (full) {
    // Before the frame and the pause are noted: the take() that finds them ends the pause.
    lock.unlock();
    transport_.load()->pause_reading(connection, true);
    lock.lock();
  }
  if (control) {
    shares_.control_came(connection, memory_bytes, frame_bytes, full);
  } else if (full) {
    shares_.paused(connection);
  }
  const bool wake = push(std::move(event), memory_bytes);
  lock.unlock();
  if (wake) wake_();
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
  shares_.closed(connection);
  const bool wake = push(ConnectionClosed{connection, error}, 0);
  lock.unlock();
  if (wake) wake_();
}

}  // namespace firn::app
