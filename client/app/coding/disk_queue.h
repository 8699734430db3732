// One content's tasks that write to its store, and what happens when the disk takes nothing.
//
// A disk that takes nothing (full, read-only, vanished) pauses the queue: the task that failed is
// kept and tried again at an interval, everything else waits behind it in order, nothing is lost.
// Tasks that were with the pool when one failed do not overtake it: each task has the number of the
// turn it was started in, workers leave alone what belongs to a turn in which a task has failed,
// and the next turn begins there. (Rows that were written before the drop that failed is tried
// again would be lost with the dropped ones.)
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "client/app/coding/task_line.h"
#include "client/app/coding/turn_clock.h"
#include "proto/base/result.h"

namespace firn::app {

// What becomes of the queue; called on the owner thread.
class DiskEvents {
 public:
  virtual ~DiskEvents() = default;
  virtual void disk_paused(const Error& error) = 0;
  virtual void disk_resumed() = 0;
  // Something was written that a sync makes durable.
  virtual void disk_wrote() = 0;
  // A task is done, or is parked until the disk takes something: the queue may be at rest.
  virtual void disk_task_ended() = 0;
};

// Owner thread.
class DiskQueue {
 public:
  static constexpr core::TimeUs kRetryInterval = 2 * core::kSecond;

  // In a form that can be tried again.
  struct Task {
    WorkerPool::Key key = WorkerPool::kUnordered;
    std::function<Result<bool>()> work;  // on a worker; whether the disk took something
    std::function<void()> done;          // on the owner thread, after success
    bool progress = true;                // wrote something that a sync makes durable
  };

  DiskQueue(TaskLine& tasks, const TurnClock& clock, DiskEvents& events)
      : tasks_(tasks), clock_(clock), events_(events) {}

  void submit(Task task);
  // A task will come: until then it counts as one that is under way.
  void expect() { ++task_count_; }
  void submit_expected(Task task);

  bool paused() const { return paused_; }
  // No task is under way, or none will get anywhere for now.
  bool at_rest() const { return task_count_ == 0 || paused_; }

  void wake();
  core::TimeUs next_wake() const { return retry_at_; }

 private:
  struct Started {
    Task task;
    std::uint64_t turn = 0;  // turn_ when it was started
    bool probe = false;      // it was parked, and is tried again
  };

  void start(std::shared_ptr<Started> started);
  void failed(std::shared_ptr<Started> started, const Error& error);
  void park(std::shared_ptr<Started> started);
  void left_alone(std::shared_ptr<Started> started);
  void succeeded(const Started& started, bool taken);
  void resume_after(bool taken);
  void probe();

  TaskLine& tasks_;
  const TurnClock& clock_;
  DiskEvents& events_;
  std::uint64_t turn_ = 1;
  const std::shared_ptr<std::atomic<std::uint64_t>> failed_turn_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  std::size_t task_count_ = 0;  // submitted, parked or expected
  bool paused_ = false;
  bool probing_ = false;  // one parked task is being tried
  std::deque<std::shared_ptr<Started>> parked_;
  core::TimeUs retry_at_ = core::kNever;
};

}  // namespace firn::app
