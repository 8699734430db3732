#include "client/core/grants.h"

#include <algorithm>
#include <utility>

#include "client/core/policy/constants.h"

namespace firn::core {

// Where the neighbour had credit left, the answer takes longer than the path: so the shortest
// counts.
void Grants::grant(std::uint32_t blocks, TimeUs now) {
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
    if (took <= policy::kRoundTripMax) {
      round_trip_ = round_trip_ == 0 ? took : std::min(round_trip_, took);
    }
    awaited_ = 0;
  }
  ++blocks_received_;
  rate_.add(bytes, now);
  return true;
}

}  // namespace firn::core
