// Which neighbours of a source pass on what they are given. Rows of the first pass that go to a
// peer which others have banned, or which sends to nobody, are lacking everywhere else, and the
// source itself cannot see that. So downloading peers report once a second how many innovative
// blocks each of their neighbours gave them. For each of its own neighbours the source takes the
// number that two fifths of the reporters reach, and compares it with the blocks that it gave to
// the neighbour: fewer reporters than that may lie (policy::kReportersShare). Reporters of one
// address weigh together as one (voices.h). What cannot be true beside the rank that a reporter
// tells is not counted (reporter.h).
//
// A neighbour whose rows are worth little is soon given too few to judge it by. Then it counts for
// what it was when it was judged last, or what it passes on now as if it had been given enough.
//
// A report never bans: it only decides the share of first-hand rows. In a large mesh most reporters
// do not know the neighbour, and their silence says nothing: there spread.h does the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "client/core/context.h"
#include "client/core/membership.h"
#include "client/core/policy/constants.h"
#include "client/core/reporter.h"
#include "client/core/spread.h"
#include "client/core/voices.h"

namespace firn::core {

class Contributions final : public LeaveWatcher {
 public:
  Contributions(const Context& context, Membership& membership, Spread& spread);

  void leaves(const Neighbour& n) override;
  // Its Hello has come.
  void greeted(Neighbour& n);

  // Reviews all neighbours once a second (policy::kReportInterval); nullopt: it was not time yet.
  // True: one turned out to pass next to nothing on (Neighbour::sink), so that what it was given is
  // lacking elsewhere.
  std::optional<bool> step();

 private:
  // What is known of a neighbour. `given` and `passed_on` forget, with kContributionMemory.
  struct Count {
    TimeUs since = kNever;
    bool judged = false, ever_judged = false;
    double given = 0, passed_on = 0;
    double share = 0;  // of what it was given it passed on, when it was judged last
    // At least, if it is given too little to be judged again: as if that were enough.
    double share_by_now() const {
      return judged ? share : std::max(share, passed_on / std::max(given, policy::kGivenMin));
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
  std::optional<double> told_growth(const Count& count) const;

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
