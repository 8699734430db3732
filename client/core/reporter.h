// A neighbour whose reports a source goes by (contributions.h): whether it says something at
// present that can be true. It reports the new rows that it had from others, and its States tell
// its rank: rows that it did not have from us. Whoever praises friends for rows that they never
// sent would have to claim rank for them as well, and a source sends no rows to those that hold
// them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "client/core/neighbour.h"
#include "client/core/policy/constants.h"

namespace firn::core {

class Reporter {
 public:
  // Once a review; `kept` of what it said before counts still. False: nothing has reached it since
  // the last time, as far as it says, or it says more than its rank allows.
  bool speaks(const Neighbour& n, double kept) {
    const std::uint64_t total = n.reports.total();
    const auto rank = static_cast<std::int64_t>(n.expected_total_rank());
    const std::int64_t from_others = rank - static_cast<std::int64_t>(n.pipe.blocks_sent());
    const bool grown = total > total_;
    told_ = told_ * kept + (grown ? static_cast<double>(total - total_) : 0);
    possible_ = possible_ * kept + static_cast<double>(from_others - from_others_);
    total_ = total;
    from_others_ = from_others;
    return grown && told_ <= possible_ * policy::kReportExcess + policy::kReportSlack;
  }

 private:
  std::uint64_t total_ = 0;         // that it told of last, from all others
  std::int64_t from_others_ = 0;    // that it can have, by its rank
  double told_ = 0, possible_ = 0;  // their growth: sums that forget
};

}  // namespace firn::core
