#include "client/core/neighbour/pipeline.h"

#include <algorithm>

#include "client/core/neighbour/remote_holdings.h"

namespace firn::core {

bool Pipeline::acknowledge(std::uint32_t sequence, RemoteHoldings& holds) {
  if (sequence > sequence_) return false;
  // States may overtake one another only in appearance: one rides on a block that waits, a later
  // one travels alone. An older acknowledgement is simply out of date.
  acknowledged_ = std::max(acknowledged_, sequence);
  std::size_t arrived = 0;
  while (arrived < in_flight_.size() && in_flight_[arrived].first <= acknowledged_) {
    holds.not_in_flight(in_flight_[arrived].second, in_flight_[arrived].first);
    ++arrived;
  }
  in_flight_.erase(in_flight_.begin(), in_flight_.begin() + static_cast<std::ptrdiff_t>(arrived));
  return true;
}

std::uint32_t Pipeline::book(std::uint32_t generation, TimeUs now) {
  if (queued_++ == 0) waiting_since_ = now;
  served_rate_.add(1, now);
  in_flight_.emplace_back(++sequence_, generation);
  return sequence_;
}

std::uint32_t Pipeline::departed(std::uint64_t bytes, RemoteHoldings& holds, TimeUs now) {
  if (queued_ == 0) return 0;
  --queued_;
  const std::uint32_t number = ++departed_;
  waiting_since_ = now;
  rate_.add(bytes, now);
  if (bytes > 0) {
    const double blocks =
        rate(now) * static_cast<double>(kPipelineTime) * 1e-6 / static_cast<double>(bytes);
    depth_ = std::clamp(static_cast<std::uint32_t>(std::min(blocks * times_on_way_, 1e6)),
                        std::min(times_on_way_, 2u), kPipelineMax);
    last_sent_ = departed_;
    last_departure_ = now;
    ++blocks_sent_;
    return number;
  }
  const auto lost = std::find_if(in_flight_.begin(), in_flight_.end(),
                                 [&](const auto& entry) { return entry.first == departed_; });
  if (lost != in_flight_.end()) {
    holds.not_in_flight(lost->second, lost->first);
    in_flight_.erase(lost);
  }
  if (departed_ == sequence_) sequence_ = departed_ = last_sent_;
  return number;
}

}  // namespace firn::core
