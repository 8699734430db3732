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
  const std::lock_guard lock(mutex_);
  return post_locked(std::move(order));
}

bool Mailbox::post_locked(Order order) {
  if (wake_ == nullptr) return false;
  const bool wake = orders_.empty();
  orders_.push_back(std::move(order));
  // Under the lock, so that it cannot be stopped in between.
  if (wake) wake_->signal();
  return true;
}

bool Mailbox::post_send(ConnectionId id, OutgoingFrame frame) {
  const std::lock_guard lock(mutex_);
  std::size_t& waiting = waiting_[id];
  if (waiting == kOverflown) return true;
  if (frame.bytes() > send_bytes_max_ - waiting) {
    waiting = kOverflown;
    return post_locked(OverflowOrder{id});
  }
  waiting += frame.bytes();
  return post_locked(SendOrder{id, std::move(frame)});
}

std::vector<Order> Mailbox::take() {
  std::vector<Order> taken;
  const std::lock_guard lock(mutex_);
  taken.swap(orders_);
  waiting_.clear();
  return taken;
}

std::size_t Mailbox::waiting_bytes(ConnectionId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(id);
  return found == waiting_.end() || found->second == kOverflown ? 0 : found->second;
}

}  // namespace firn::proto::transport
