#include "client/core/trust/plain_mode.h"

#include <algorithm>

namespace firn::core::trust {

constexpr TimeUs kPlainModeMax = 2400 * kSecond;

void PlainMode::met_false() {
  ends_at_ = world_.context.now + (on_ ? lasts_ : kPlainModeMemory);
}

// Polluters that nobody asks for coded blocks send nothing that is false: where they come back soon
// after its end it lasts longer.
bool PlainMode::step() {
  const bool on = regime_.alone_at_large() && world_.context.now < ends_at_;
  if (on == on_) return false;
  on_ = on;
  if (on) {
    const bool again = lasts_ > 0 && world_.context.now - ended_at_ < kPlainModeMemory;
    lasts_ = again ? std::min(2 * lasts_, kPlainModeMax) : kPlainModeTime;
    ends_at_ = world_.context.now + lasts_;
  } else {
    ends_at_ = 0;
    ended_at_ = world_.context.now;
  }
  return true;
}

TimeUs PlainMode::next_due() const {
  return on_ ? ends_at_ : kNever;
}

}  // namespace firn::core::trust
