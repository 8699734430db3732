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
  reader.spent += std::max<std::uint64_t>(kControlBytes, frame_bytes);
  reader.paused |= paused;
}

std::vector<ReadShares::Change> ReadShares::taken(core::TimeUs now) {
  std::vector<Change> changes;
  next_due_ = core::kNever;
  for (auto it = readers_.begin(); it != readers_.end();) {
    auto& [connection, reader] = *it;
    reader.waiting_bytes = 0;
    (void)reader.earned.available(now);  // what it has earned comes before what it has spent
    reader.earned.take(std::exchange(reader.spent, 0));
    const core::TimeUs resumes = reader.earned.wait_for(kControlsResumed * kControlBytes, now);
    reader.overdrawn = reader.overdrawn ? resumes > 0 : !reader.earned.ready(now);
    if (reader.overdrawn != reader.paused) changes.push_back({connection, reader.overdrawn});
    reader.paused = reader.overdrawn;
    if (reader.overdrawn) next_due_ = std::min(next_due_, now + resumes);
    // A reader that has earned all is as good as a new one.
    it = !reader.overdrawn && reader.earned.full(now) ? readers_.erase(it) : std::next(it);
  }
  return changes;
}

}  // namespace firn::app
