#include "client/app/daemon/seeding_record.h"

namespace firn::app {

void SeedingRecord::session_began(core::TimeUs now) {
  session_sent_ = 0;
  was_complete_ = false;
  sampled_at_ = now;
}

void SeedingRecord::sample(std::uint64_t session_sent, bool complete, core::TimeUs now) {
  if (session_sent > session_sent_) uploaded_ += session_sent - session_sent_;
  session_sent_ = session_sent;
  if (was_complete_) seeded_us_ += now - sampled_at_;
  was_complete_ = complete;
  sampled_at_ = now;
}

bool SeedingRecord::reached(const LimitValues& limits, std::uint64_t content_bytes) const {
  if (limits.seed_seconds > 0 && seconds() >= limits.seed_seconds) return true;
  const double wanted =
      static_cast<double>(limits.seed_ratio) / 1000 * static_cast<double>(content_bytes);
  return limits.seed_ratio > 0 && content_bytes > 0 && static_cast<double>(uploaded_) >= wanted;
}

}  // namespace firn::app
