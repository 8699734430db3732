// What this peer sends a neighbour: the credit that the neighbour has granted, and each block from
// its choice until it has arrived. A block is queued until it departs (has left this host's
// queues), and in flight until the neighbour has acknowledged it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "client/core/base/rates.h"
#include "client/core/base/types.h"

namespace firn::core {

// Unsent blocks cover this much of the link's time, of so many at most. Less: gaps; more: blocks
// that are chosen early.
inline constexpr TimeUs kPipelineTime = 5 * kMillisecond;
inline constexpr std::uint32_t kPipelineMax = 64;

class RemoteHoldings;

class Pipeline {
 public:
  // Blocks that may be in flight: what a neighbour never acknowledges has to be remembered. Of 4
  // KiB each they are 256 MiB, which is 0.9 GB/s for 0.3 s.
  static constexpr std::size_t kInFlightMax = 1 << 16;

  // --- what the neighbour says ---
  // Blocks up to `sequence` have arrived, which `holds` is told. False if it was never sent.
  bool acknowledge(std::uint32_t sequence, RemoteHoldings& holds);
  std::uint32_t acknowledged() const { return acknowledged_; }
  // The number of the last block it takes; an older State says less and changes nothing.
  void raise_credit(std::uint32_t credit) { credit_ = credit > credit_ ? credit : credit_; }
  bool has_credit() const { return credit_ > sequence_ && in_flight_.size() < kInFlightMax; }

  // --- blocks ---
  std::uint32_t next_sequence() const { return sequence_ + 1; }
  // Queues a block of `generation`; returns its sequence number.
  std::uint32_t book(std::uint32_t generation, TimeUs now);
  // The oldest queued block has been sent; 0 bytes: it could not be made and is not in flight. The
  // numbers of the last blocks that could not be made are used again: the receiver does not hear
  // of them and could not renew their credit.
  // Returns its number; 0 if none was queued.
  std::uint32_t departed(std::uint64_t bytes, RemoteHoldings& holds, TimeUs now);
  std::uint32_t queued() const { return queued_; }
  std::size_t in_flight() const { return in_flight_.size(); }
  std::uint64_t blocks_sent() const { return blocks_sent_; }
  TimeUs last_departure() const { return last_departure_; }

  // --- its socket ---
  // Since when it has taken nothing of what is queued; kNever: nothing is queued.
  TimeUs waiting_since() const { return queued_ > 0 ? waiting_since_ : kNever; }
  // How many blocks may wait in it, as its rate was when the last one left.
  std::uint32_t depth() const { return depth_; }
  // So many times as many may wait in it (LinkFacts::times_on_way), and two at least where that is
  // more than 1; from the next block that leaves on.
  void deepen(std::uint32_t times_on_way) { times_on_way_ = times_on_way; }

  // Bytes a second that have left.
  double rate(TimeUs now) const { return rate_.bytes_per_second(now); }
  // Blocks a second that were chosen for it of late, over a few seconds.
  double served_rate(TimeUs now) const { return served_rate_.bytes_per_second(now); }
  // RateMeter::log_at_fixed_time of it.
  double served_log() const { return served_rate_.log_at_fixed_time(); }

 private:
  std::uint32_t credit_ = 0;
  std::uint32_t sequence_ = 0;  // of the last block booked
  std::uint32_t queued_ = 0;
  std::uint32_t depth_ = 1;
  std::uint32_t times_on_way_ = 1;
  TimeUs waiting_since_ = 0;
  std::uint64_t blocks_sent_ = 0;
  TimeUs last_departure_ = 0;
  std::uint32_t departed_ = 0;   // sequence number of the last block that left or failed
  std::uint32_t last_sent_ = 0;  // of the last that left
  std::uint32_t acknowledged_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> in_flight_;  // sequence, generation
  RateMeter rate_;
  RateMeter served_rate_{5 * kSecond};
};

}  // namespace firn::core
