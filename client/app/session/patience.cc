#include "client/app/session/patience.h"

namespace firn::app {

core::TimeUs Patience::next(core::TimeUs progressed) const {
  const core::TimeUs since = waits_since(progressed);
  const core::TimeUs look = std::max(since + kQuiet, reviewed_ + kReview);
  return timeout_ == core::kNever ? look : std::min(look, since + timeout_);
}

bool Patience::due(core::TimeUs progressed, core::TimeUs now) {
  if (now > next(progressed) + kLate) resumed_ = now;
  return now >= next(progressed);
}

bool Patience::review(const Reason& reason, core::TimeUs progressed, core::TimeUs now) {
  reviewed_ = now;
  if (!quiet(progressed, now) || reason.key == said_) return false;
  said_ = reason.key;
  said_at_ = now;
  return true;
}

bool Patience::goes_on(core::TimeUs progressed, core::TimeUs now) {
  if (said_.empty() || progressed <= said_at_ || quiet(progressed, now) ||
      now - went_on_at_ < kBetween)
    return false;
  said_.clear();
  went_on_at_ = now;
  return true;
}

}  // namespace firn::app
