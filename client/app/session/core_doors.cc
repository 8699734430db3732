#include "client/app/session/core_doors.h"

namespace firn::app {

void CoreDoors::make(const ContentId& content, const core::Options& options) {
  core::Options limited = options;
  limited.up_limit = up_limit_.value_or(options.up_limit);
  limited.down_limit = down_limit_.value_or(options.down_limit);
  core_ = std::make_unique<core::SwarmCore>(content, limited, loop_.now());
}

void CoreDoors::set_limits(std::uint64_t up, std::uint64_t down) {
  up_limit_ = up;
  down_limit_ = down;
  if (made()) feed(&core::SwarmCore::set_limits, up, down);
}

void CoreDoors::changed() {
  fed_ = true;
  wants_turn_();
}

void CoreDoors::wake(core::TimeUs now) {
  if (core_->next_wake() > now) return;
  const StageScope stage(Stage::kCore);
  core_->wake(now);
  fed_ = true;
}

std::vector<core::Action> CoreDoors::take_actions() {
  fed_ = false;
  const StageScope stage(Stage::kCore);
  return core_->take_actions();
}

}  // namespace firn::app
