// A content's download: its limit, which counts a block when it is granted, and what came.
#pragma once

#include <cstdint>

#include "client/core/base/rate_limit.h"
#include "client/core/base/types.h"
#include "proto/content/shape.h"

namespace firn::core {

class Downlink : private RateLimit {
 public:
  Downlink(const Options& options, TimeUs now)
      : RateLimit(options.down_limit, options.down_budget, now) {}

  using RateLimit::held_up, RateLimit::next_due, RateLimit::half_full_at, RateLimit::ready;
  using RateLimit::rest, RateLimit::set_limit, RateLimit::take, RateLimit::unlimited;

  // The shape is known: blocks may be granted from now on.
  void set_shape(const Shape& shape);

  void received(std::uint64_t bytes, bool block);
  void granted(std::uint32_t blocks) { take(blocks * charge_); }
  // Blocks that were granted and will never come are no load.
  void will_not_come(std::uint32_t blocks) { give_back(blocks * charge_); }

  // Blocks that the limit lets be granted now; UINT64_MAX: it sets no bound.
  std::uint64_t blocks_allowed(TimeUs now);
  std::uint64_t bytes_received() const { return bytes_received_; }

 private:
  std::uint64_t charge_ = 0;  // for a block that is granted; settled when it comes
  std::uint64_t bytes_received_ = 0;
};

}  // namespace firn::core
