// What a peer knows of the authority's clock: never later than so. Which time it is there decides
// whether a row arrived before a check key was told, and so could not be made to pass it.
//
// A peer sends the authority a nonce that nobody could know before, and the authority signs when it
// came. At the peer's time of sending the authority's clock cannot have shown more than that. A way
// that is long, or held up by a hostile peer, makes the bound looser: fewer rows are judged, and no
// false one passes. No clock is compared with another, only how long both have run.
//
// A machine that is suspended, or a virtual one that is paused, does not count that time. So a
// bound is void once an Epoch shows a later time, and is kept for kBoundLife at most.
#pragma once

#include <cstdlib>
#include <optional>

#include "client/core/policy/constants.h"
#include "client/core/types.h"

namespace firn::core {

class AuthorityClock {
 public:
  // A nonce that was drawn at `sent`, of our clock, had come to the authority at `heard`, of its
  // own. The bound that is nearer at `now` is kept, unless it is old.
  void heard(TimeUs sent, TimeUs heard, TimeUs now) {
    const Bound fresh{sent, heard};
    const bool old = bound_ && now - bound_->sent > policy::kBoundLife;
    if (!bound_ || old || fresh.latest(now) <= bound_->latest(now)) bound_ = fresh;
  }
  // At `now` the authority's clock shows `time` or more.
  void shows(TimeUs time, TimeUs now) {
    if (bound_ && bound_->latest(now) < time) bound_.reset();
  }
  void forget() { bound_.reset(); }

  // The authority's clock showed no more than this at `at`, of ours; nullopt: nothing is known.
  std::optional<TimeUs> latest(TimeUs at) const {
    return bound_ ? std::optional(bound_->latest(at)) : std::nullopt;
  }
  bool known() const { return bound_.has_value(); }

 private:
  struct Bound {
    TimeUs sent = 0, heard = 0;
    TimeUs latest(TimeUs at) const {
      const TimeUs elapsed = at - sent;
      const TimeUs drift = std::abs(elapsed) / policy::kClockDriftShare + 1;
      return heard + elapsed + drift;
    }
  };
  std::optional<Bound> bound_;
};

}  // namespace firn::core
