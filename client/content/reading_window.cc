#include "client/content/reading_window.h"

#include <algorithm>
#include <cmath>

namespace firn::content {
namespace {

constexpr double kSecondUs = 1e6;
// The rate is an average over about this time: scenes of a film differ, and a copy may stop and go
// on.
constexpr double kMeasuredUs = 4 * kSecondUs;
// What is taken at once at the start fills buffers: it counts as what is taken in this time.
constexpr double kMeasuredLeastUs = 1 * kSecondUs;

}  // namespace

ReadingWindow::ReadingWindow(const Info& info, std::uint32_t file)
    : generation_bytes_(info.shape.generation_bytes()),
      file_begin_(info.files[file].offset),
      file_bytes_(info.files[file].bytes) {}

void ReadingWindow::took(std::uint64_t offset, std::uint64_t bytes, std::int64_t now_us) {
  begun_ = true;
  if (offset != position_) jumped_to_ = offset;
  if (offset == position_ && !waiting_) {
    const auto elapsed_us = static_cast<double>(now_us - last_us_);
    const double share_kept = std::exp(-elapsed_us / kMeasuredUs);
    taken_bytes_ *= share_kept;
    taking_us_ = taking_us_ * share_kept + elapsed_us;
  }
  const double most = rate_of(kUrgentMax) * std::max(taking_us_, kMeasuredLeastUs) / kSecondUs;
  taken_bytes_ = std::min(taken_bytes_ + static_cast<double>(bytes), most);
  position_ = offset + bytes;
  waiting_ = bytes == 0;
  last_us_ = now_us;
}

double ReadingWindow::rate() const {
  const double measured = taken_bytes_ / std::max(taking_us_, kMeasuredLeastUs) * kSecondUs;
  return std::clamp(measured, rate_of(kReadAheadLeast), rate_of(kUrgentMax));
}

double ReadingWindow::rate_of(std::uint64_t generations) const {
  return static_cast<double>(generations * generation_bytes_) / kReadAheadUs * kSecondUs;
}

std::vector<UrgentGeneration> ReadingWindow::urgent(const std::vector<bool>& verified) const {
  std::vector<UrgentGeneration> found;
  if (!begun_ || position_ >= file_bytes_) return found;
  const double bytes_per_us = rate() / kSecondUs;
  const auto window = static_cast<std::uint64_t>(std::llround(bytes_per_us * kReadAheadUs));
  const std::uint64_t begin = file_begin_ + position_;
  const std::uint64_t awaited_end = file_begin_ + jumped_to_ + kReadAheadLeast * generation_bytes_;
  const std::uint64_t end = std::min(begin + window, file_begin_ + file_bytes_);
  for (std::uint64_t at = begin; at < end && found.size() < kUrgentMax;) {
    const auto generation = static_cast<std::uint32_t>(at / generation_bytes_);
    const auto due_us = static_cast<std::int64_t>(static_cast<double>(at - begin) / bytes_per_us);
    if (!verified[generation]) found.push_back({generation, due_us, at < awaited_end});
    at = (std::uint64_t{generation} + 1) * generation_bytes_;
  }
  return found;
}

std::vector<UrgentGeneration> in_turn(const std::vector<std::vector<UrgentGeneration>>& readers) {
  std::vector<UrgentGeneration> found;
  for (std::size_t turn = 0; turn < kUrgentMax; ++turn) {
    std::vector<UrgentGeneration> of_turn;
    for (auto reader = readers.rbegin(); reader != readers.rend(); ++reader)
      if (turn < reader->size()) of_turn.push_back((*reader)[turn]);
    std::ranges::stable_sort(of_turn, {}, &UrgentGeneration::due_us);
    for (const UrgentGeneration& urgent : of_turn) {
      const auto known = std::ranges::find(found, urgent.generation, &UrgentGeneration::generation);
      if (known != found.end()) {
        known->awaited |= urgent.awaited;
      } else if (found.size() < kUrgentMax) {
        found.push_back(urgent);
      }
    }
  }
  return found;
}

}  // namespace firn::content
