// A content's download: its limit, which counts a block when it is granted, and what came.
#pragma once

#include <cstdint>

#include "client/core/base/rate_limit.h"
#include "client/core/base/types.h"
#include "proto/content/shape.h"

namespace firn::core {

class Downlink {
 public:
  Downlink(const Options& options, TimeUs now)
      : limit_(options.down_limit, options.down_budget, now) {}

  // Bytes a second, 0: none of its own.
  void set_limit(std::uint64_t rate, TimeUs now) { limit_.set_rate(rate, now); }
  // The shape is known: blocks may be granted from now on.
  void set_shape(const Shape& shape);

  void received(std::uint64_t bytes, bool block);
  void granted(std::uint32_t blocks) { limit_.take(blocks * charge_); }
  // Blocks that were granted and will never come are no load.
  void give_back(std::uint32_t blocks);

  bool unlimited() const { return limit_.unlimited(); }
  // Nothing may be granted now because of the limit.
  bool exhausted(TimeUs now) { return !limit_.unlimited() && !limit_.ready(now); }
  // Blocks that the limit lets be granted now; UINT64_MAX: it sets no bound.
  std::uint64_t blocks_allowed(TimeUs now);
  // When the limit has saved up so much that some of it should be granted before the rest is lost.
  TimeUs half_full_at(TimeUs now) { return limit_.half_full_at(now); }
  std::uint64_t bytes_received() const { return bytes_received_; }

  // As of Uplink.
  void rest(TimeUs now) { waits_ = !limit_.ready(now); }
  bool held_up() const { return waits_; }
  TimeUs next_due(TimeUs now) { return waits_ ? limit_.ready_at(now) : kNever; }

 private:
  RateLimit limit_;
  std::uint64_t charge_ = 0;  // for a block that is granted; settled when it comes
  bool waits_ = false;
  std::uint64_t bytes_received_ = 0;
};

}  // namespace firn::core
