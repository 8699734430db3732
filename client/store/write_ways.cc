#include "client/store/write_ways.h"

namespace firn::store {

WriteWays::Way WriteWays::next() {
  const std::lock_guard lock(mutex_);
  if (!direct_) return Way::kCached;
  const std::uint64_t turn = turn_++;
  if (turn < 2 * kTries) return turn % 2 == 0 ? Way::kDirect : Way::kCached;
  if (direct_pays()) return Way::kDirect;
  return turn % kTryOther == 0 ? Way::kDirect : Way::kCached;
}

bool WriteWays::prefers_direct() const {
  const std::lock_guard lock(mutex_);
  return direct_ && turn_ >= 2 * kTries && direct_cost_.count > 0 && direct_pays();
}

bool WriteWays::direct_pays() const {
  return direct_cost_.ns_per_byte <= kDirectMayTake * cached_cost_.ns_per_byte;
}

void WriteWays::took(Way way, std::size_t bytes, std::chrono::nanoseconds time) {
  if (bytes == 0) return;
  const double ns = static_cast<double>(time.count()) / static_cast<double>(bytes);
  const std::lock_guard lock(mutex_);
  Cost& cost = way == Way::kDirect ? direct_cost_ : cached_cost_;
  cost.ns_per_byte = cost.count++ == 0 ? ns : (7 * cost.ns_per_byte + ns) / 8;
}

void WriteWays::no_direct() {
  const std::lock_guard lock(mutex_);
  direct_ = false;
}

}  // namespace firn::store
