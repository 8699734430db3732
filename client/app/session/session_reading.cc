#include "client/app/session/session_reading.h"

#include <utility>

namespace firn::app {

void SessionReading::begin(std::shared_ptr<store::ContentStore> store, std::vector<bool> verified,
                           std::vector<bool> chosen) {
  content_ =
      std::make_shared<ContentReading>(std::move(store), std::move(verified), std::move(chosen),
                                       [&loop = host_.loop] { loop.wake(); });
  host_.readings.add(plan_.content_id, content_);
}

void SessionReading::verified(std::uint32_t generation) {
  if (content_) content_->verified(generation);
}

void SessionReading::lost(std::uint32_t generation, bool fetch_again) {
  if (content_) content_->lost(generation, fetch_again);
}

void SessionReading::choose(const std::vector<bool>& chosen) {
  if (content_) content_->choose(chosen);
}

void SessionReading::hand_over() {
  if (!content_) return;
  if (auto urgent = content_->take_urgent())
    core_.feed(&core::SwarmCore::hurry, *std::move(urgent));
}

void SessionReading::repair(DataPlane* coding) {
  if (!content_) return;
  for (const auto& [generation, error] : content_->take_unreadable()) {
    if (!coding->lose(generation, error)) content_->verified(generation);  // it is read once more
    coding->flush();
  }
}

void SessionReading::fetch_no_more() {
  if (content_) content_->fetch_no_more();
}

void SessionReading::end() {
  if (!content_) return;
  host_.readings.remove(plan_.content_id, *content_);
  content_->end();
  content_.reset();
}

}  // namespace firn::app
