// Whether fingerprints of generations (fingerprints.h) pay on this machine: measured once for each
// shape, and only for contents whose hashing takes much longer than that.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "proto/content/shape.h"

namespace firn::store {

// Any thread, also at once.
class FingerprintCosts {
 public:
  struct Times {
    std::chrono::nanoseconds fingerprint, digest;  // of the same bytes
  };
  // Makes both of so many blocks of the shape, once.
  using Measure = std::function<Times(const Shape& shape, std::size_t blocks)>;

  // As many as have their digests made at once (proto/base/digest.h): fewer take longer each.
  static constexpr std::size_t kTimedBlocks = 16;
  // The fastest time counts: others use the processor too.
  static constexpr int kRounds = 4;
  // Each generation that is verified costs a fingerprint, also if it is never read back.
  static constexpr int kCheaper = 4;
  // A content has this many times the bytes that measuring hashes: else it may not win them back.
  static constexpr std::uint64_t kWorth = 4;

  explicit FingerprintCosts(Measure measure) : measure_(std::move(measure)) {}

  // Whether a fingerprint of such a content costs at most 1 / kCheaper of a digest.
  bool pay(const Shape& shape);

 private:
  using BlockShape = std::pair<std::uint32_t, std::uint32_t>;  // generation size, block bytes

  bool measured(const Shape& shape, std::size_t blocks) const;

  const Measure measure_;
  std::mutex mutex_;
  std::map<BlockShape, bool> known_;
};

}  // namespace firn::store
