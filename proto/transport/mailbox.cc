#include "proto/transport/mailbox.h"

#include <limits>
#include <utility>

namespace firn::proto::transport {
namespace {

constexpr std::size_t kOverflown = std::numeric_limits<std::size_t>::max();

}  // namespace

void Mailbox::open(Wakeup* wake) {
  const std::lock_guard lock(mutex_);
  wake_ = wake;
}

void Mailbox::close() {
  const std::lock_guard lock(mutex_);
  wake_ = nullptr;
}

bool Mailbox::post(Order order) {
  std::unique_lock lock(mutex_);
  return post_and_unlock(std::move(order), lock);
}

// The signal comes after the lock is free: the thread that it wakes takes it at once.
bool Mailbox::post_and_unlock(Order order, std::unique_lock<std::mutex>& lock) {
  if (wake_ == nullptr) return false;
  Wakeup* const wake = orders_.empty() ? wake_ : nullptr;
  orders_.push_back(std::move(order));
  lock.unlock();
  if (wake != nullptr) wake->signal();
  return true;
}

bool Mailbox::post_send(ConnectionId id, OutgoingFrame frame, FrameTag tag) {
  const std::size_t bytes = frame.bytes();
  return post_frames(id, bytes, SendOrder{id, std::move(frame), tag});
}

bool Mailbox::post_run(ConnectionId id, std::vector<Block> blocks, std::size_t frame_bytes,
                       FrameTag tag) {
  if (blocks.empty()) return true;
  return post_frames(id, frame_bytes, SendOrder{id, std::move(blocks), tag});
}

// `bytes`: of all frames that `order` brings.
bool Mailbox::post_frames(ConnectionId id, std::size_t bytes, Order order) {
  std::unique_lock lock(mutex_);
  Waiting& of_connection = waiting_[id];
  if (std::exchange(of_connection.round, round_) != round_) of_connection.bytes = 0;
  std::size_t& waiting = of_connection.bytes;
  if (waiting == kOverflown) return true;
  if (bytes > send_bytes_max_ - waiting) {
    waiting = kOverflown;
    return post_and_unlock(OverflowOrder{id}, lock);
  }
  waiting += bytes;
  return post_and_unlock(std::move(order), lock);
}

void Mailbox::take(std::vector<Order>& orders) {
  orders.clear();
  const std::lock_guard lock(mutex_);
  orders.swap(orders_);
  ++round_;
  if (waiting_.size() > kWaitingKept) waiting_.clear();
}

std::size_t Mailbox::waiting_bytes(ConnectionId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(id);
  if (found == waiting_.end() || found->second.round != round_) return 0;
  return found->second.bytes == kOverflown ? 0 : found->second.bytes;
}

}  // namespace firn::proto::transport
