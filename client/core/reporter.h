// A neighbour whose reports a source goes by (contributions.h): whether what it says at present can
// be true. It reports the new rows that it had from others; its States tell its rank, which these
// rows and those from the source make up. So a reporter cannot tell of more than its rank leaves
// for others. One that praises friends for rows that they never sent has to claim rank as well.
#pragma once

#include <algorithm>
#include <cstdint>

#include "client/core/neighbour.h"
#include "client/core/policy/constants.h"

namespace firn::core {

class Reporter {
 public:
  // Once a review: since the last one it has told of `grown` more rows from others. `kept` of what
  // was before counts still. False: nothing has reached it since, as far as it says, or it says
  // more than its rank allows.
  bool speaks(const Neighbour& n, std::uint64_t grown, double kept) {
    const auto rank = static_cast<std::int64_t>(n.expected_total_rank());
    const auto sent = static_cast<std::int64_t>(n.pipe.blocks_sent());
    told_ = told_ * kept + static_cast<double>(grown);
    possible_ = possible_ * kept + (known_ ? growth(rank, sent, kept) : 0);
    known_ = true;
    rank_ = rank;
    sent_ = sent;
    return grown > 0 && told_ <= possible_ * policy::kReportExcess + policy::kReportSlack;
  }

 private:
  // Of its rank less what this peer sent. A generation that turned out to be false is thrown away,
  // and what it told of that stays told: so some of what is lost is forgiven.
  double growth(std::int64_t rank, std::int64_t sent, double kept) {
    forgiven_ *= kept;
    const double lost = static_cast<double>(std::max<std::int64_t>(rank_ - rank, 0));
    const double forgive = std::clamp(policy::kReportForgiven - forgiven_, 0.0, lost);
    forgiven_ += forgive;
    return static_cast<double>((rank - rank_) - (sent - sent_)) + forgive;
  }

  bool known_ = false;
  std::int64_t rank_ = 0, sent_ = 0;  // at the last review
  // Sums that forget: rows that it told of, those that it can have had, and those forgiven.
  double told_ = 0, possible_ = 0, forgiven_ = 0;
};

}  // namespace firn::core
