#include "proto/stage_times.h"

#include <atomic>
#include <chrono>

namespace firn {
namespace {

// A cache line each: threads of different stages do not take them from one another.
struct alignas(64) Counter {
  std::atomic<std::uint64_t> nanoseconds{0};
};
std::array<Counter, kStageCount> counters;

struct Present {
  Stage stage = Stage::kNone;
  std::chrono::steady_clock::time_point since;
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

Stage enter_stage(Stage stage) {
  const auto now = std::chrono::steady_clock::now();
  const Stage before = present.stage;
  if (before != Stage::kNone) {
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(now - present.since);
    counters[static_cast<std::size_t>(before)].nanoseconds.fetch_add(
        static_cast<std::uint64_t>(spent.count()), std::memory_order_relaxed);
  }
  present = {stage, now};
  return before;
}

StageTimes stage_times() {
  StageTimes times{};
  for (std::size_t s = 0; s < kStageCount; ++s)
    times[s] = counters[s].nanoseconds.load(std::memory_order_relaxed);
  return times;
}

}  // namespace firn
