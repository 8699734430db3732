#include "proto/base/stage_times.h"

#include <chrono>

namespace firn {
namespace {

struct Present {
  StageClock* clock = nullptr;
  Stage stage = Stage::kNone;
  std::chrono::steady_clock::time_point since;  // meaningless in kNone
};
thread_local Present present;

}  // namespace

std::string_view name(Stage stage) {
  switch (stage) {
    case Stage::kNone:
      return "none";
    case Stage::kCore:
      return "core";
    case Stage::kMessages:
      return "messages";
    case Stage::kEncode:
      return "encode";
    case Stage::kDecode:
      return "decode";
    case Stage::kHash:
      return "hash";
    case Stage::kDiskRead:
      return "disk_read";
    case Stage::kDiskWrite:
      return "disk_write";
    case Stage::kTls:
      return "tls";
    case Stage::kNetwork:
      return "network";
  }
  return "none";
}

StageClock::Attach::Attach(StageClock* clock)
    : before_(present.clock), stage_before_(enter_stage(Stage::kNone)) {
  present.clock = clock;
}

StageClock::Attach::~Attach() {
  enter_stage(Stage::kNone);
  present.clock = before_;
  enter_stage(stage_before_);
}

Stage enter_stage(Stage stage) {
  const Stage before = present.stage;
  if (present.clock == nullptr) {
    present.stage = stage;
    return before;
  }
  const auto now = std::chrono::steady_clock::now();
  if (before != Stage::kNone) {
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(now - present.since);
    present.clock->counters_[static_cast<std::size_t>(before)].nanoseconds.fetch_add(
        static_cast<std::uint64_t>(spent.count()), std::memory_order_relaxed);
  }
  present.stage = stage;
  present.since = now;
  return before;
}

StageTimes StageClock::times() const {
  StageTimes times{};
  for (std::size_t s = 0; s < kStageCount; ++s)
    times[s] = counters_[s].nanoseconds.load(std::memory_order_relaxed);
  return times;
}

}  // namespace firn
