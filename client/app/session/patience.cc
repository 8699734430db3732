#include "client/app/session/patience.h"

#include <algorithm>

namespace firn::app {

core::TimeUs Patience::next(core::TimeUs progressed) const {
  const core::TimeUs look = std::max(progressed + kQuiet, reviewed_ + kReview);
  return timeout_ == core::kNever ? look : std::min(look, progressed + timeout_);
}

bool Patience::review(const Reason& reason, core::TimeUs progressed, core::TimeUs now) {
  reviewed_ = now;
  if (now - progressed < kQuiet) return false;
  const bool again = progressed > said_at_ && now - said_at_ >= kOld;
  if (reason.key == said_ && !again) return false;
  said_ = reason.key;
  said_at_ = now;
  return true;
}

}  // namespace firn::app
