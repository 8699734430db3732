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
  std::unique_lock lock(mutex_);
  std::size_t& waiting = waiting_[id];
  if (waiting == kOverflown) return true;
  if (frame.bytes() > send_bytes_max_ - waiting) {
    waiting = kOverflown;
    return post_and_unlock(OverflowOrder{id}, lock);
  }
  waiting += frame.bytes();
  return post_and_unlock(SendOrder{id, std::move(frame), tag}, lock);
}

void Mailbox::take(std::vector<Order>& orders) {
  orders.clear();
  const std::lock_guard lock(mutex_);
  orders.swap(orders_);
  waiting_.clear();
}

std::size_t Mailbox::waiting_bytes(ConnectionId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(id);
  return found == waiting_.end() || found->second == kOverflown ? 0 : found->second;
}

}  // namespace firn::proto::transport
