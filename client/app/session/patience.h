// When a download that does not move is to say why, and when it gives up.
#pragma once

#include <algorithm>
#include <string>

#include "client/app/session/standstill_words.h"
#include "client/core/base/types.h"

namespace firn::app {

class Patience {
 public:
  static constexpr core::TimeUs kQuiet = 5 * core::kSecond;  // then the first word
  static constexpr core::TimeUs kReview = core::kSecond;     // how often the reason is looked at
  // A slow download that pauses each few seconds says that it goes on, and then why it stands still
  // again, at most so often.
  static constexpr core::TimeUs kBetween = 60 * core::kSecond;
  // Asked so much later than next() said, the process did not run meanwhile: it was stopped, or the
  // machine asleep. Waiting begins anew then, as peers may have to be called again.
  static constexpr core::TimeUs kLate = 2 * core::kSecond;

  // A download without progress is over after `timeout`; kNever: it goes on.
  explicit Patience(core::TimeUs timeout = core::kNever) : timeout_(timeout) {}

  // Whether the reason is to be looked at now; `progressed`: when something last came. To be asked
  // by the time of next().
  bool due(core::TimeUs progressed, core::TimeUs now);
  core::TimeUs next(core::TimeUs progressed) const;
  // Nothing has come for so long that the download counts as waiting.
  bool quiet(core::TimeUs progressed, core::TimeUs now) const {
    return now - waits_since(progressed) >= kQuiet;
  }
  // It was looked at: whether it is to be said, as it is not what was said last.
  bool review(const Reason& reason, core::TimeUs progressed, core::TimeUs now);
  // Whether it is to be said that something comes again after a reason was said.
  bool goes_on(core::TimeUs progressed, core::TimeUs now);
  bool over(core::TimeUs progressed, core::TimeUs now) const {
    return timeout_ != core::kNever && now - waits_since(progressed) >= timeout_;
  }

 private:
  core::TimeUs waits_since(core::TimeUs progressed) const { return std::max(progressed, resumed_); }

  core::TimeUs timeout_;
  core::TimeUs reviewed_ = -kReview;
  core::TimeUs resumed_ = 0;  // the process ran again
  std::string said_;          // the key of the reason that was said last; empty: that it goes on
  core::TimeUs said_at_ = 0;
  core::TimeUs went_on_at_ = -kBetween;  // when it was last said that it goes on
};

}  // namespace firn::app
