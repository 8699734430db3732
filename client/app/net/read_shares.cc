#include "client/app/net/read_shares.h"

#include <algorithm>
#include <utility>

namespace firn::app {

bool ReadShares::fills(ConnectionId connection, std::size_t memory_bytes) const {
  const auto reader = readers_.find(connection);
  const std::size_t waiting = reader == readers_.end() ? 0 : reader->second.waiting_bytes;
  return waiting + memory_bytes > share_bytes_;
}

void ReadShares::control_came(ConnectionId connection, std::size_t memory_bytes,
                              std::size_t frame_bytes, bool paused) {
  Reader& reader = readers_[connection];
  reader.waiting_bytes += memory_bytes;
  reader.spent += std::max(1.0, static_cast<double>(frame_bytes) / 1024);
  reader.paused |= paused;
}

void ReadShares::earn(Reader& reader, core::TimeUs now) {
  const double seconds = static_cast<double>(now - reader.earned_at) / core::kSecond;
  reader.earned_at = now;
  reader.level = std::min(kControlsAtOnce, reader.level + seconds * kControlsPerSecond);
  reader.level -= std::exchange(reader.spent, 0);
}

std::vector<ReadShares::Change> ReadShares::taken(core::TimeUs now) {
  std::vector<Change> changes;
  next_due_ = core::kNever;
  for (auto it = readers_.begin(); it != readers_.end();) {
    auto& [connection, reader] = *it;
    earn(reader, now);
    reader.waiting_bytes = 0;
    reader.overdrawn = reader.level < (reader.overdrawn ? kControlsResumed : 0);
    if (reader.overdrawn != reader.paused) changes.push_back({connection, reader.overdrawn});
    reader.paused = reader.overdrawn;
    if (reader.overdrawn) {
      const double seconds = (kControlsResumed - reader.level) / kControlsPerSecond;
      next_due_ = std::min(next_due_, now + static_cast<core::TimeUs>(seconds * core::kSecond) + 1);
    }
    // A reader that has earned all is as good as a new one.
    it = !reader.overdrawn && reader.level >= kControlsAtOnce ? readers_.erase(it) : std::next(it);
  }
  return changes;
}

}  // namespace firn::app
