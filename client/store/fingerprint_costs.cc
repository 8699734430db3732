#include "client/store/fingerprint_costs.h"

#include <algorithm>

namespace firn::store {

bool FingerprintCosts::pay(const Shape& shape) {
  const std::size_t blocks = std::min<std::size_t>(kTimedBlocks, shape.generation_size);
  const std::uint64_t hashed = std::uint64_t{kRounds} * blocks * shape.block_bytes;
  if (shape.content_bytes < kWorth * hashed) return false;
  const std::lock_guard lock(mutex_);  // also while it measures: two at once would slow each other
  const BlockShape key{shape.generation_size, shape.block_bytes};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_[key] = measured(shape, blocks);
}

bool FingerprintCosts::measured(const Shape& shape, std::size_t blocks) const {
  Times best = measure_(shape, blocks);
  for (int round = 1; round < kRounds; ++round) {
    const Times times = measure_(shape, blocks);
    best.fingerprint = std::min(best.fingerprint, times.fingerprint);
    best.digest = std::min(best.digest, times.digest);
  }
  return kCheaper * best.fingerprint <= best.digest;
}

}  // namespace firn::store
