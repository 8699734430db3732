// A content's upload: its limit, the measured rate of the link, and what was sent.
#pragma once

#include <cstdint>
#include <utility>

#include "client/core/base/rate_limit.h"
#include "client/core/base/rates.h"
#include "client/core/base/types.h"

namespace firn::core {

class Uplink : private RateLimit {
 public:
  Uplink(const Options& options, TimeUs now)
      : RateLimit(options.up_limit, options.up_budget, now), link_(options.link) {}

  using RateLimit::next_due, RateLimit::rate, RateLimit::rest, RateLimit::set_limit;
  using RateLimit::unlimited;
  bool ready(TimeUs now) { return rate() != kNoUpload && RateLimit::ready(now); }
  bool held_up() const { return rate() == kNoUpload || RateLimit::held_up(); }

  // Something has happened that may let a block go: blocks are chosen in this step.
  void stir() { stirred_ = true; }
  bool take_stirred() { return std::exchange(stirred_, false); }

  // --- what goes out ---
  // A message other than a block.
  void sent_message(std::uint64_t bytes) {
    bytes_sent_ += bytes;
    take(bytes);
  }
  // A block was chosen, of about this size.
  void chose_block(std::uint64_t bytes) { take(bytes); }
  // Blocks have left; 0 bytes: they could not be made.
  void blocks_departed(std::uint32_t blocks, std::uint64_t bytes, TimeUs now);
  // A block has left that waited for `time` at the head of its connection's send queue.
  void block_waited(TimeUs time) { queue_time_ += (time - queue_time_) / 8; }
  // Whether blocks wait for the link, now that no more are chosen.
  void waiting(bool something, TimeUs now) { meter_.waiting(something, now); }

  // --- what it carries ---
  double blocks_per_second(TimeUs now) const { return blocks_rate_.bytes_per_second(now); }
  // What the link was seen to carry, or the limit if that is less; at least 1 once it is known.
  std::uint32_t kib_per_second() const;
  // How long a message to a neighbour takes to leave, microseconds: it waits behind queued blocks.
  TimeUs queue_time() const { return meter_.busy() ? queue_time_ : 0; }
  // What the link was seen to carry, bytes a second, whatever the limit; 0: not known.
  double seen() const { return meter_.bytes_per_second(); }
  // LinkFacts::times_on_way.
  std::uint32_t times_on_way() const { return link_ ? link_->times_on_way : 1; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t blocks_sent() const { return blocks_sent_; }

 private:
  const LinkFacts* link_;
  UplinkMeter meter_;
  RateMeter blocks_rate_{1 * kSecond};  // blocks, to all neighbours
  bool stirred_ = true;
  TimeUs queue_time_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t blocks_sent_ = 0;
};

}  // namespace firn::core
