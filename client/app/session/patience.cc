#include "client/app/session/patience.h"

#include <utility>

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
  if (!quiet(progressed, now)) return false;
  const bool again = progressed > said_at_ && now - said_at_ >= kOld;
  if (reason.key == said_ && !again) return false;
  said_ = reason.key;
  said_at_ = now;
  stands_ = true;
  return true;
}

bool Patience::goes_on(core::TimeUs progressed) {
  return progressed > said_at_ && std::exchange(stands_, false);
}

}  // namespace firn::app
