#include "client/core/neighbour/grants.h"

#include <utility>

namespace firn::core {

// A sender had waited for credit if the pause before the first block of a grant was longer than one
// kDryPauseShare-th of the time since the grant [011].
constexpr int kDryPauseShare = 4;
// If the path's round trip is known, it had also waited if that block came within
// kPromptRoundTrips round trips and kPromptSlack (for the block's own length and the host's
// delays). Then the window grows by what has come, to twice as much in a round trip [070]. More: a
// queue counts as the path.
constexpr double kPromptRoundTrips = 1.5;
constexpr TimeUs kPromptSlack = 5 * kMillisecond;

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
    ran_dry_ |= pause > took / kDryPauseShare;
    shortest_ = answered_++ == 0 ? took : std::min(shortest_, took);
    const auto prompt = kPromptRoundTrips * static_cast<double>(std::min(path_, shortest_));
    prompt_ = path_known() && took <= static_cast<TimeUs>(prompt) + kPromptSlack;
    awaited_ = 0;
  }
  ++blocks_received_;
  ++arrived_;
  rate_.add(bytes, now);
  return true;
}

bool Grants::path_known() const {
  const bool longer = shortest_ > path_ + kRoundTripMax;
  return path_ > 0 && !(answered_ >= kRoundTripGrants && longer);
}

TimeUs Grants::round_trip() const {
  if (path_known() && (answered_ == 0 || shortest_ > kRoundTripMax)) return path_;
  if (answered_ == 0 || shortest_ > kRoundTripPath) return 0;
  const bool path = answered_ >= kRoundTripGrants;
  return shortest_ <= kRoundTripMax || path ? shortest_ : 0;
}

}  // namespace firn::core
