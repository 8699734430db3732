#include "client/app/daemon/work_watch.h"

#include <utility>

#include "client/store/work_mark.h"

namespace firn::app {

void WorkWatch::look() {
  if (!marked() || task_.busy() || loop_.now() < look_at_) return;
  auto work = [dir = content_->folder, id = content_->id,
               top = content_->as.empty() ? name_ : content_->as,
               mark = content_->mark] { return store::download_is_there(dir, id, top, mark); };
  (void)task_.start(workers_, std::move(work),
                    [this](const Result<bool>& there) { looked(there); });
}

void WorkWatch::looked(const Result<bool>& there) {
  const bool found = there.ok() && *there;
  const State before = std::exchange(state_, found ? State::kThere : State::kAway);
  look_at_ = loop_.now() + kLookInterval;
  if (before == state_) return;
  loop_.wake();
  if (found) {
    if (before == State::kAway)
      console_.info(name_ + " goes on: what it has had is back in " + content_->folder,
                    content_->id);
    return;
  }
  reason_ = there.ok() ? "what it has had in " + content_->folder +
                             " is not there; the disk may not be mounted"
                       : there.error().message();
  console_.warning(name_ + " waits: " + reason_ +
                       ". It goes on by itself when that is back; `firn resume --afresh` begins "
                       "again",
                   content_->id);
}

}  // namespace firn::app
