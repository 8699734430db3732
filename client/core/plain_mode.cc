#include "client/core/plain_mode.h"

#include <algorithm>

#include "client/core/policy/constants.h"

namespace firn::core {

void PlainMode::met_false(std::uint32_t g) {
  if (context_.now - met_at_ >= policy::kPlainModeMemory) met_ = 0;
  if (met_ == 0 || g != last_) ++met_;
  last_ = g;
  met_at_ = context_.now;
  ends_at_ = context_.now + lasts_;
}

// One false row is mixed into others, so that all meet it in the same generation.
bool PlainMode::begins() const {
  if (met_ == 0 || context_.now - met_at_ >= policy::kPlainModeMemory) return false;
  if (met_ >= policy::kPlainModeBegins) return true;
  const Neighbours& all = membership_.neighbours();
  const auto others = static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [](const Neighbour& n) { return n.holds.held_blocks().any(); }));
  return others >= policy::kPlainModeJoinsMin &&
         static_cast<double>(others) >= policy::kPlainModeJoins * static_cast<double>(all.size());
}

// Polluters that nobody asks for coded blocks send nothing that is false: where they come back soon
// after its end it lasts longer.
bool PlainMode::step() {
  const bool on = trust_.alone_at_large() && (on_ ? context_.now < ends_at_ : begins());
  if (on == on_) return false;
  on_ = on;
  met_ = 0;
  if (on) {
    const bool again = lasts_ > 0 && context_.now - ended_at_ < policy::kPlainModeMemory;
    lasts_ = again ? std::min(2 * lasts_, policy::kPlainModeMax) : policy::kPlainModeTime;
    ends_at_ = context_.now + lasts_;
  } else {
    ended_at_ = context_.now;
  }
  return true;
}

TimeUs PlainMode::next_due() const {
  return on_ ? ends_at_ : kNever;
}

}  // namespace firn::core
