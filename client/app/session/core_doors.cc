#include "client/app/session/core_doors.h"

namespace firn::app {

void CoreDoors::make(const ContentId& content, const core::Options& options) {
  core_ = std::make_unique<core::SwarmCore>(content, options, loop_.now());
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
