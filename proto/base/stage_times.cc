#include "proto/base/stage_times.h"

#include <time.h>

namespace firn {

struct StagePresent {
  StageClock::Sheet* sheet = nullptr;
  Stage stage = Stage::kNone;
  std::uint64_t since_ns = 0;  // meaningless in kNone
};

namespace {

thread_local StagePresent present;

// Cheaper than an addition that other threads might make as well.
void add(std::atomic<std::uint64_t>& count, std::uint64_t more) {
  count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

// std::chrono::steady_clock is the same by two more calls.
std::uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

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
    case Stage::kProof:
      return "proof";
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

StageClock::Sheet& StageClock::take_sheet() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return *sheets_.emplace_back(std::make_unique<Sheet>());
  Sheet& sheet = *idle_.back();
  idle_.pop_back();
  return sheet;
}

void StageClock::give_back(Sheet& sheet) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(&sheet);
}

StageClock::Attach::Attach(StageClock* clock, Stage turns)
    : clock_(clock), before_(present.sheet), stage_before_(enter_stage(Stage::kNone)) {
  present.sheet = clock != nullptr ? &clock->take_sheet() : nullptr;
  enter_stage(turns);
}

StageClock::Attach::~Attach() {
  return_to_stage(Stage::kNone);
  if (clock_ != nullptr) clock_->give_back(*present.sheet);
  present.sheet = before_;
  return_to_stage(stage_before_);
}

Stage current_stage() {
  return present.stage;
}

Stage enter_stage(Stage stage) {
  if (present.sheet != nullptr) add(present.sheet->entered[static_cast<std::size_t>(stage)], 1);
  return return_to_stage(stage);
}

Stage return_to_stage(Stage stage) {
  const Stage before = present.stage;
  if (present.sheet == nullptr || !(is_timed(before) || is_timed(stage))) {
    present.stage = stage;
    return before;
  }
  const std::uint64_t now = monotonic_ns();
  if (is_timed(before))
    add(present.sheet->nanoseconds[static_cast<std::size_t>(before)], now - present.since_ns);
  present.stage = stage;
  present.since_ns = now;
  return before;
}

StageTimes StageClock::times() const {
  StageTimes times{};
  const std::lock_guard lock(mutex_);
  for (const auto& sheet : sheets_)
    for (std::size_t s = 0; s < kStageCount; ++s)
      times[s] += sheet->nanoseconds[s].load(std::memory_order_relaxed);
  return times;
}

StageCounts StageClock::counts() const {
  StageCounts counts{};
  const std::lock_guard lock(mutex_);
  for (const auto& sheet : sheets_)
    for (std::size_t s = 0; s < kStageCount; ++s)
      counts[s] += sheet->entered[s].load(std::memory_order_relaxed);
  return counts;
}

}  // namespace firn
