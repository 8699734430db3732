#include "client/app/session/session_origins.h"

#include <utility>

#include "client/app/origin/origin_choice.h"

namespace firn::app {

using core::SwarmCore;

void SessionOrigins::begin(DataPlane& coding) {
  if (plan_.serves()) return;
  OriginChoice choice = choose_origins(plan_.origins, *plan_.manifest, plan_.core.publisher);
  for (const std::string& why : choice.refused) say(true, why + "; it is not used");
  if (choice.origins.empty()) return;
  std::shared_ptr<Transfers> transfers = host_.transfers();
  if (!transfers) return;
  coding_ = &coding;
  OriginEvents& events = *this;
  runs_ = std::make_unique<OriginRuns>(
      std::move(choice.origins), plan_.manifest->info, std::move(transfers),
      [&loop = host_.loop] { loop.wake(); }, events);
  runs_->step(host_.loop.now());
}

void SessionOrigins::end() {
  at_end_ = figures();
  runs_.reset();
}

void SessionOrigins::fetch(const core::FetchFromOrigin& asked) {
  if (runs_) runs_->fetch(asked, host_.loop.now());
}

void SessionOrigins::written(std::uint32_t generation, core::DecodeOutcome outcome) {
  if (!runs_) return;
  runs_->written(generation, outcome);
  core_.changed();
}

void SessionOrigins::pause(bool paused) {
  if (runs_) runs_->pause(paused);
}

void SessionOrigins::wake(core::TimeUs now) {
  if (runs_) runs_->step(now);
}

core::TimeUs SessionOrigins::next_wake() const {
  return runs_ ? runs_->next_wake() : core::kNever;
}

std::vector<OriginFigures> SessionOrigins::figures() const {
  return runs_ ? runs_->figures() : at_end_;
}

std::vector<std::string> SessionOrigins::standing() const {
  if (runs_) return runs_->standing();
  const OriginPlan& plan = plan_.origins;
  if (plan_.manifest || plan.none || (plan.by_hand.empty() && plan.from_link.empty())) return {};
  return {
      "the origin has files and no manifest: give the manifest file too (firn get LINK X.firn), "
      "or run firn seed X.firn once where the files are"};
}

// --- from the runs ---

std::shared_ptr<Buffer> SessionOrigins::take_buffer(std::uint32_t generation) {
  return coding_->take_buffer(generation);
}

void SessionOrigins::came(std::uint32_t generation, std::shared_ptr<Buffer> data) {
  coding_->take_fetched(generation, std::move(data), host_.loop.now());
}

bool SessionOrigins::wants(std::uint32_t generation) const {
  return core_.facts().wants(generation);
}

void SessionOrigins::answer(std::uint32_t generation, bool verified) {
  core_.feed(&SwarmCore::generation_fetched, generation, verified);
}

void SessionOrigins::open(bool open) {
  core_.feed(&SwarmCore::origin_open, open);
}

void SessionOrigins::lack(const core::GenerationSet& lacking) {
  core_.feed(&SwarmCore::origins_lack, lacking);
}

void SessionOrigins::say(bool warning, const std::string& text) {
  if (warning) {
    host_.console.warning(text, plan_.content_id);
  } else {
    host_.console.info(text, plan_.content_id);
  }
}

void SessionOrigins::debug(const std::string& text) {
  host_.console.debug(text);
}

}  // namespace firn::app
