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

void SessionReading::lost(std::uint32_t generation) {
  if (content_) content_->lost(generation);
}

void SessionReading::choose(const std::vector<bool>& chosen) {
  if (content_) content_->choose(chosen);
}

void SessionReading::hand_over() {
  if (!content_) return;
  if (auto urgent = content_->take_urgent())
    core_.feed(&core::SwarmCore::hurry, *std::move(urgent));
}

void SessionReading::end() {
  if (!content_) return;
  host_.readings.remove(plan_.content_id, *content_);
  content_->end();
  content_.reset();
}

}  // namespace firn::app
