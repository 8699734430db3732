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
  // A reason that was said before is news again after kOld, if there was progress in between.
  static constexpr core::TimeUs kOld = 60 * core::kSecond;
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
  // It was looked at: whether it is to be said.
  bool review(const Reason& reason, core::TimeUs progressed, core::TimeUs now);
  // Something has come after a reason was said. True once for each such reason.
  bool goes_on(core::TimeUs progressed);
  bool over(core::TimeUs progressed, core::TimeUs now) const {
    return timeout_ != core::kNever && now - waits_since(progressed) >= timeout_;
  }

 private:
  core::TimeUs waits_since(core::TimeUs progressed) const { return std::max(progressed, resumed_); }

  core::TimeUs timeout_;
  core::TimeUs reviewed_ = -kReview;
  core::TimeUs resumed_ = 0;  // the process ran again
  std::string said_;          // the key of what was said last
  bool stands_ = false;       // the reason said last still holds
  core::TimeUs said_at_ = 0;
};

}  // namespace firn::app
