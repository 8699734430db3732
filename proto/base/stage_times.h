// Where time goes. A StageClock counts for the threads that were attached to it. Each of them is in
// one stage at a time, or in none (waiting, or work that is not measured); a stage entered
// within another one interrupts it, so that no moment is counted twice: a digest computed while a
// generation is being read is hashing, not disk.
//
// Cost: one reading of the clock and an addition or two for each change of stage, tens of
// nanoseconds, and a few between stages that wall times do not count; stages are entered per
// message, TLS record or generation, never per byte. On a thread that is attached to no clock a
// change of stage costs next to nothing.
//
// Times are of the clock on the wall, summed over threads. Where there are more busy threads than
// cores, a thread that waits for its turn counts as working; StageProfile counts processor time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace firn {

enum class Stage : std::uint8_t {
  kNone,
  kCore,       // the swarm core: decisions, and coding vectors brought to reduced form
  kMessages,   // messages parsed and made
  kEncode,     // payloads of coded blocks, made from source blocks or from rows
  kDecode,     // generations from their rows
  kHash,       // SHA-256
  kProof,      // check sums of blocks: made, and rows held against them
  kDiskRead,   // files and spool
  kDiskWrite,  // files, spool, journal, and waiting for the disk to have them
  kTls,        // records encrypted and decrypted, handshakes
  kNetwork,    // calls of the kernel that send and receive, and that ask or set what a socket does
  kCopies,     // payloads copied from frames and into them
  kMemory,     // buffers and payloads taken and given back
  kWakeUps,    // other threads told that there is work
  // The rest of what threads do. Wall times do not count these.
  kEvents,   // the main thread: arrived messages and workers' results handed to their sessions
  kActions,  // the main thread: what the core decided, handed to those that do it
  kTimers,   // main and I/O threads: what is due, and when the next will be
  kSockets,  // I/O threads: turns of connections, frames cut from what arrived, queues
  kOrders,   // I/O threads: what other threads want sent, opened or closed
  kTasks,    // workers: tasks, outside the stages that these enter
  kWaits,    // calls that wait for work (epoll, condition variables), falling asleep, waking up
  // Outside all others. Of processor time, what no stage explains.
  kMainTurns,    // the main thread
  kIoTurns,      // I/O threads
  kWorkerTurns,  // workers
};
inline constexpr std::size_t kStageCount = 24;
inline constexpr std::size_t kTimedStageCount =
    14;                              // those that wall times count, kNone among them
std::string_view name(Stage stage);  // "core", "disk_read"

// Nanoseconds by stage. kNone and what wall times do not count stay 0.
using StageTimes = std::array<std::uint64_t, kStageCount>;
// How often each was entered; going back to the stage that was interrupted does not count.
using StageCounts = std::array<std::uint64_t, kStageCount>;

class StageClock {
  // What one thread at a time writes, and others read.
  struct alignas(64) Sheet {
    std::array<std::atomic<std::uint64_t>, kStageCount> nanoseconds{};
    std::array<std::atomic<std::uint64_t>, kStageCount> entered{};
  };

 public:
  // This thread counts here for the scope's life; before and after it, where it counted before.
  class Attach {
   public:
    // null: nowhere. `turns` is the stage outside all others.
    explicit Attach(StageClock* clock, Stage turns = Stage::kNone);
    ~Attach();
    Attach(const Attach&) = delete;
    Attach& operator=(const Attach&) = delete;

   private:
    StageClock* const clock_;
    Sheet* const before_;
    const Stage stage_before_;
  };

  // Over all threads, up to each thread's last change of stage. Any thread.
  StageTimes times() const;
  StageCounts counts() const;

 private:
  friend Stage enter_stage(Stage stage);
  friend Stage return_to_stage(Stage stage);
  friend struct StagePresent;

  Sheet& take_sheet();
  void give_back(Sheet& sheet);

  // A sheet for each attached thread: one for all, which every thread would write for every
  // message, moved from core to core. Those given back keep what they counted, and are used again.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Sheet>> sheets_;
  std::vector<Sheet*> idle_;
};

// What this thread is in. Also within a signal handler.
Stage current_stage();

// This thread goes over to `stage`; the one it was in.
Stage enter_stage(Stage stage);
// The same, where `stage` was interrupted: not counted as entered once more.
Stage return_to_stage(Stage stage);

// A stage until the end of a block.
class StageScope {
 public:
  explicit StageScope(Stage stage) : before_(enter_stage(stage)) {}
  ~StageScope() { return_to_stage(before_); }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

 private:
  const Stage before_;
};

}  // namespace firn
