// Judges, at a source in a small mesh, which neighbours pass on what they are given
// (Neighbour::worth). Rows of the first pass that go to a peer which others have banned, or which
// sends to nobody, are missing everywhere else, and the source itself cannot see that. So
// downloading peers report once a second how many innovative blocks each of their neighbours gave
// them. For each of its own neighbours the source takes the number that two fifths of the reporters
// reach (kReportersShare), so that fewer liars than that achieve nothing, and compares it
// with the blocks that it gave to the neighbour. Reporters of one address weigh together as one
// (voices.h). What cannot be true beside the rank that a reporter tells is not counted (Reporter).
//
// A neighbour whose rows are worth little is soon given too few to judge it by. Then it counts for
// what it was when it was judged last, or what it passes on now as if it had been given enough.
//
// A report never bans: it only decides the share of first-hand rows. In a large mesh most reporters
// do not know the neighbour, so that their silence says nothing; there spread.h judges neighbours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "client/core/base/context.h"
#include "client/core/mesh/membership.h"
#include "client/core/mesh/predecessors.h"
#include "client/core/send/source/spread.h"
#include "client/core/send/source/voices.h"

namespace firn::core {

// A reporter may tell of kReportExcess times the rows that its rank leaves for others, and
// kReportSlack more: what it tells of may run ahead of its ranks for a moment [069]. Of a rank that
// falls kReportForgiven rows are forgiven within kContributionMemory: two default generations.
// Half of kReportExcess silences honest reporters: +53 % with four polluters of twelve [096].
inline constexpr double kReportForgiven = 128;
inline constexpr double kReportExcess = 1.25;
inline constexpr double kReportSlack = 24;
// In a small mesh: of a neighbour that cannot be judged yet while others can [047].
inline constexpr double kNewcomerWorth = 1.0 / 4;
// Rows, and reports of them, are on their way for so long, and kNewcomerRoundTrips longer, twice
// that at most; after kNewcomerTimeMax its worth is 1 (predecessors.h: later). Double: +2 % [096].
inline constexpr TimeUs kNewcomerTime = 2 * kSecond;
inline constexpr int kNewcomerRoundTrips = 5;
inline constexpr TimeUs kNewcomerTimeMax = 10 * kSecond;

// A neighbour whose reports a source goes by: whether what it says at present can be true. It
// reports the new rows that it had from others; its States tell its rank, which these rows and
// those from the source make up. So a reporter cannot tell of more than its rank leaves for others.
// One that praises friends for rows that they never sent has to claim rank as well.
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
    return grown > 0 && told_ <= possible_ * kReportExcess + kReportSlack;
  }

 private:
  // Of its rank less what this peer sent. A generation that turned out to be false is thrown away,
  // and what it told of that stays told: so some of what is lost is forgiven.
  double growth(std::int64_t rank, std::int64_t sent, double kept) {
    forgiven_ *= kept;
    const double lost = static_cast<double>(std::max<std::int64_t>(rank_ - rank, 0));
    const double forgive = std::clamp(kReportForgiven - forgiven_, 0.0, lost);
    forgiven_ += forgive;
    return static_cast<double>((rank - rank_) - (sent - sent_)) + forgive;
  }

  bool known_ = false;
  std::int64_t rank_ = 0, sent_ = 0;  // at the last review
  // Sums that forget: rows that it told of, those that it can have had, and those forgiven.
  double told_ = 0, possible_ = 0, forgiven_ = 0;
};

class Contributions final : public Part {
 public:
  Contributions(const Context& context, Membership& membership, Spread& spread);

  void neighbour_left(const Neighbour& n) override;
  // Its Hello has come.
  void greeted(Neighbour& n);

  // Reviews all neighbours once a second (kReportInterval); nullopt: it was not time yet.
  // True: one turned out to pass next to nothing on (Neighbour::sink), so that what it was given is
  // lacking elsewhere.
  std::optional<bool> review();

 private:
  // What is known of a neighbour. `given` and `passed_on` forget, with kContributionMemory.
  struct Count {
    TimeUs since = kNever;
    bool judged = false, ever_judged = false;
    double given = 0, passed_on = 0;
    double share = 0;  // of what it was given it passed on, when it was judged last
    // At least, if it is given too little to be judged again: as if that were enough.
    double share_by_now() const {
      return judged ? share : std::max(share, passed_on / std::max(given, kGivenMin));
    }
    std::uint64_t given_seen = 0;
    struct Told {
      std::int64_t most = 0;  // blocks, ever
      double grown = 0;       // since the last review
    };
    std::map<PeerKey, Told> reported;  // by reporter
  };
  bool review_at_large(double kept);
  void begin_again();
  void find_reporters(double kept);
  std::uint64_t note_growth(const Neighbour& reporter);
  void count(const Neighbour& n, double kept);
  // One that was never judged.
  void review_newcomer(Neighbour& n) const;
  double usual_share() const;
  std::optional<double> told_growth(const Neighbour& of, const Count& count) const;

  const Context& context_;
  Membership& membership_;
  Spread& spread_;
  std::map<PeerKey, Count> counts_;
  std::map<PeerKey, Reporter> known_reporters_;
  std::vector<const Neighbour*> reporters_;  // of this review
  Voices voices_;
  TimeUs reviewed_ = 0;
  bool was_large_ = false, judges_ = false;  // at the last review
  TimeUs judged_since_ = kNever;             // from when on some neighbour could be judged
};

}  // namespace firn::core
