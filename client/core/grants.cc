#include "client/core/grants.h"

#include <algorithm>
#include <utility>

#include "client/core/policy/constants.h"

namespace firn::core {

// Where the neighbour had credit left, the answer takes longer than the path: so the shortest
// counts.
void Grants::grant(std::uint32_t blocks, TimeUs now) {
  if (credit_ == 0) rate_.begin(now);
  if (awaited_ == 0) {
    awaited_ = credit_ + 1;
    awaited_since_ = now;
  }
  credit_ += blocks;
  last_grant_ = now;
}

bool Grants::book_arrival(std::uint32_t sequence, std::uint64_t bytes, TimeUs now) {
  if (sequence <= highest_received_ || sequence > credit_) return false;
  highest_received_ = sequence;
  const TimeUs pause = now - std::exchange(last_arrival_, now);
  if (awaited_ != 0 && sequence >= awaited_) {
    const TimeUs took = std::max<TimeUs>(now - awaited_since_, 1);
    ran_dry_ |= pause > took / policy::kDryPause;
    const auto prompt = static_cast<TimeUs>(policy::kPromptRoundTrips * static_cast<double>(path_));
    prompt_ = path_ > 0 && took <= prompt + policy::kPromptSlack;
    shortest_ = answered_++ == 0 ? took : std::min(shortest_, took);
    awaited_ = 0;
  }
  ++blocks_received_;
  ++arrived_;
  rate_.add(bytes, now);
  return true;
}

TimeUs Grants::round_trip() const {
  if (path_ > 0) return answered_ > 0 ? std::min(path_, shortest_) : path_;
  if (answered_ == 0 || shortest_ > policy::kRoundTripPath) return 0;
  const bool path = answered_ >= policy::kRoundTripGrants;
  return shortest_ <= policy::kRoundTripMax || path ? shortest_ : 0;
}

}  // namespace firn::core
