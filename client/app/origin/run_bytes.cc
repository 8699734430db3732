#include "client/app/origin/run_bytes.h"

#include <algorithm>
#include <utility>

namespace firn::app {

RunBytes::RunBytes(const std::vector<std::uint64_t>& sizes, std::function<void()> changed)
    : changed_(std::move(changed)), filled_(sizes.size(), 0) {
  starts_.push_back(0);
  for (const std::uint64_t bytes : sizes) starts_.push_back(starts_.back() + bytes);
}

void RunBytes::add_room(std::shared_ptr<Buffer> buffer) {
  FIRN_CHECK(rooms_added_ < filled_.size());
  FIRN_CHECK(buffer->bytes().size() >= starts_[rooms_added_ + 1] - starts_[rooms_added_]);
  ++rooms_added_;
  const std::lock_guard lock(mutex_);
  rooms_.push_back(std::move(buffer));
}

std::shared_ptr<Buffer> RunBytes::take_next() {
  const std::lock_guard lock(mutex_);
  if (taken_ >= rooms_.size() || filled_[taken_] < starts_[taken_ + 1] - starts_[taken_])
    return nullptr;
  return std::exchange(rooms_[taken_++], nullptr);
}

void RunBytes::hold(bool holds) {
  const std::lock_guard lock(mutex_);
  holds_ = holds;
}

void RunBytes::close() {
  std::vector<std::shared_ptr<Buffer>> unused;  // let go of without the mutex
  const std::lock_guard lock(mutex_);
  closed_ = true;
  unused.swap(rooms_);
}

std::uint64_t RunBytes::received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

// With the mutex. How many of the bytes there was room for.
std::size_t RunBytes::put(std::uint64_t at, std::span<const std::uint8_t> bytes) {
  if (closed_) return bytes.size();
  std::size_t g = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), at) -
                                           starts_.begin() - 1);
  std::size_t put = 0;
  for (; put < bytes.size() && g < rooms_.size() && !holds_; ++g) {
    const std::uint64_t begin = at + put - starts_[g];
    const std::uint64_t size = starts_[g + 1] - starts_[g];
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(size - begin, bytes.size() - put));
    std::copy_n(bytes.data() + put, count, rooms_[g]->bytes().data() + begin);
    put += count;
    filled_[g] += count;
    received_ += count;
    if (filled_[g] == size) changed_();
  }
  return put;
}

PieceSink::News PieceSink::news() const {
  const std::lock_guard lock(run_->mutex_);
  return news_;
}

bool PieceSink::may_go_on() {
  const std::lock_guard lock(run_->mutex_);
  const bool room = at_ + news_.taken < run_->starts_[run_->rooms_.size()];
  return room && !run_->holds_ && std::exchange(waits_, false);
}

Status PieceSink::head(const OriginAnswer& answer) {
  const std::lock_guard lock(run_->mutex_);
  news_.validator = answer.validator();
  return Done{};
}

bool PieceSink::take(std::span<const std::uint8_t> bytes) {
  bytes = bytes.subspan(ahead_);
  const std::lock_guard lock(run_->mutex_);
  const std::size_t put = run_->put(at_ + news_.taken, bytes);
  news_.taken += put;
  waits_ = put < bytes.size();
  ahead_ = waits_ ? ahead_ + put : 0;
  return !waits_;
}

void PieceSink::ended(const TransferEnd& end) {
  {
    const std::lock_guard lock(run_->mutex_);
    news_.end = end;
  }
  run_->changed_();
}

}  // namespace firn::app
