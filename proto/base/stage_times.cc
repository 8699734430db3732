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

bool is_timed(Stage stage) {
  return stage != Stage::kNone && static_cast<std::size_t>(stage) < kTimedStageCount;
}

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
    case Stage::kCopies:
      return "copies";
    case Stage::kMemory:
      return "memory";
    case Stage::kWakeUps:
      return "wake_ups";
    case Stage::kEvents:
      return "events";
    case Stage::kActions:
      return "actions";
    case Stage::kTimers:
      return "timers";
    case Stage::kSockets:
      return "sockets";
    case Stage::kOrders:
      return "orders";
    case Stage::kTasks:
      return "tasks";
    case Stage::kWaits:
      return "waits";
    case Stage::kMainTurns:
      return "main_turns";
    case Stage::kIoTurns:
      return "io_turns";
    case Stage::kWorkerTurns:
      return "worker_turns";
  }
  return "none";
}

StageClock::Attach::Attach(StageClock* clock, Stage turns)
    : before_(present.clock), stage_before_(enter_stage(Stage::kNone)) {
  present.clock = clock;
  enter_stage(turns);
}

StageClock::Attach::~Attach() {
  return_to_stage(Stage::kNone);
  present.clock = before_;
  return_to_stage(stage_before_);
}

Stage current_stage() {
  return present.stage;
}

Stage enter_stage(Stage stage) {
  if (present.clock != nullptr)
    present.clock->counters_[static_cast<std::size_t>(stage)].entered.fetch_add(
        1, std::memory_order_relaxed);
  return return_to_stage(stage);
}

Stage return_to_stage(Stage stage) {
  const Stage before = present.stage;
  if (present.clock == nullptr || !(is_timed(before) || is_timed(stage))) {
    present.stage = stage;
    return before;
  }
  const auto now = std::chrono::steady_clock::now();
  if (is_timed(before)) {
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

StageCounts StageClock::counts() const {
  StageCounts counts{};
  for (std::size_t s = 0; s < kStageCount; ++s)
    counts[s] = counters_[s].entered.load(std::memory_order_relaxed);
  return counts;
}

}  // namespace firn
