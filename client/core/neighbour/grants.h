// What this peer grants a neighbour, as the receiver of its blocks: credit, the window that bounds
// the credit, and the rate and round trip measured from the blocks that come.
#pragma once

#include <algorithm>
#include <cstdint>

#include "client/core/base/rates.h"
#include "client/core/base/types.h"

namespace firn::core {

// Blocks granted at a time, at least. Less: credit runs dry; more: double promises, home +14 %
// [096].
inline constexpr std::uint32_t kWindowMin = 4;
// A grant answered later than this met a sender with nothing to send, or a queue: a window that
// covers a queue makes it longer [010]. Where the first kRoundTripGrants grants were all answered
// later, it is the path; of that windows cover no more than this all the same, and what takes
// longer than kRoundTripPath is not believed [056].
inline constexpr TimeUs kRoundTripMax = 300 * kMillisecond;
inline constexpr TimeUs kRoundTripPath = 1 * kSecond;
inline constexpr std::uint32_t kRoundTripGrants = 8;  // half: +3 % in one cell [096]
// A neighbour that has sent nothing of its grant for this long has stalled. Less: slow links count
// as stalled. More: the rows that it was promised wait.
inline constexpr TimeUs kStalledAfter = 3 * kSecond;

class Grants {
 public:
  // Blocks granted so far, over all States: the number of the last block that may come.
  std::uint32_t credit() const { return credit_; }
  std::uint32_t outstanding() const { return credit_ - highest_received_; }
  // No credit is left to be granted on this connection, and what was granted has come.
  bool used_up() const { return credit_ == UINT32_MAX && outstanding() == 0; }

  // Raises the credit, which is told with the State that is being made.
  void grant(std::uint32_t blocks, TimeUs now);
  // Books an arrived block; false if its sequence number breaks the rules (not rising, beyond the
  // credit granted).
  bool book_arrival(std::uint32_t sequence, std::uint64_t bytes, TimeUs now);

  // Blocks that may be outstanding, and how that was arrived at (leases.h).
  struct Window {
    std::uint32_t blocks = kWindowMin;
    std::uint32_t exhausted_streak = 0;  // times in a row that it was found used up
  };
  const Window& window() const { return window_; }
  // Also takes back what ran_dry() says: what was seen among several neighbours is no reason to
  // widen the window of one that is alone.
  void resize(const Window& window) {
    window_ = window;
    ran_dry_ = false;
    arrived_ = 0;
  }
  // The last grant that was timed was answered about as soon as the path lets it: the neighbour had
  // waited for it, or sends without a pause.
  bool answered_promptly() const { return prompt_; }
  // Blocks that came since the window was looked at.
  std::uint32_t arrived() const { return arrived_; }
  // The neighbour had sent all it might, and waited for a grant most of a round trip.
  bool ran_dry() const { return ran_dry_; }

  // Shortest time from a grant to the first block that could not have come without it; what
  // set_path() said where none has come, or where that took too long to be no queue; 0: not known.
  // If the neighbour had run out of credit once and had a block to send, that is a round trip.
  TimeUs round_trip() const;
  // What a message and its answer take at least, measured otherwise; 0: not known.
  void set_path(TimeUs round_trip) { path_ = std::min(round_trip, kRoundTripPath); }
  // And nothing speaks against it: where all of many grants were answered far later, something on
  // the way may have answered in the neighbour's place.
  bool path_known() const;
  // Bytes of payload a second.
  double rate(TimeUs now) const { return rate_.bytes_per_second(now); }
  TimeUs last_arrival() const { return last_arrival_; }
  TimeUs last_grant() const { return last_grant_; }
  std::uint64_t blocks_received() const { return blocks_received_; }
  // It owes blocks, and none has come for kStalledAfter.
  bool stalled(TimeUs now) const { return outstanding() > 0 && now > stalls_after(); }
  // If none comes, and none is granted.
  TimeUs stalls_after() const { return std::max(last_arrival_, last_grant_) + kStalledAfter; }

 private:
  TimeUs last_arrival_ = 0;
  TimeUs last_grant_ = 0;
  std::uint32_t credit_ = 0;
  std::uint32_t highest_received_ = 0;  // number of the last block that came
  Window window_;
  bool ran_dry_ = false;
  bool prompt_ = false;
  std::uint32_t arrived_ = 0;
  std::uint32_t awaited_ = 0;  // first sequence number of the grant that is timed; 0: none is
  TimeUs awaited_since_ = 0;
  TimeUs path_ = 0;             // round trip of the link; 0: not known
  TimeUs shortest_ = 0;         // from a grant to its first block
  std::uint32_t answered_ = 0;  // grants that were timed
  std::uint64_t blocks_received_ = 0;
  RateMeter rate_;
};

}  // namespace firn::core
