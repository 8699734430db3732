#include "client/core/hunger.h"

#include <algorithm>

#include "client/core/policy/constants.h"

namespace firn::core {

TimeUs Hunger::starves_at() const {
  if (life_.finishing() || life_.stopped()) return kNever;
  return life_.progressed_at() + policy::kHungerTime;
}

bool Hunger::review() {
  const TimeUs at = starves_at();
  if (context_.now < at) {
    calls_more_ = false;
    return false;
  }
  if (context_.now < look_at_) return false;
  look_at_ = context_.now + policy::kHungerReview;
  calls_more_ = book_.has_untried(context_.now);
  return true;
}

// Where there is nobody left to call, what makes a new address due wakes the core anyway.
TimeUs Hunger::next_due() const {
  const TimeUs at = starves_at();
  if (at == kNever || context_.now < at) return at;
  return calls_more_ ? std::max(at, look_at_) : kNever;
}

}  // namespace firn::core
