// One content's tasks that write to its store, and what happens when the disk takes nothing.
//
// A disk that takes nothing (full, read-only, vanished) pauses the queue: the task that failed is
// kept, and once all that was with the pool has come back, the first task that waits is tried again
// at an interval. Everything else waits behind it in the order of submitting, nothing is lost.
// Tasks that were with the pool when one failed do not overtake it: workers leave alone what they
// take then, and it waits in its place. (Rows that were written before the drop that failed is
// tried again would be lost with the dropped ones.) A task that frees room on the disk is performed
// at once, and then the first that waits is tried again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "client/app/coding/task_line.h"
#include "client/app/coding/turn_clock.h"
#include "proto/base/result.h"

namespace firn::app {

// What becomes of the queue; called on the owner thread.
class DiskEvents {
 public:
  virtual ~DiskEvents() = default;
  // Also each time that what was tried again fails.
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
    bool frees = false;                  // needs no room, and makes some
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
    std::uint64_t place = 0;  // among all that was submitted
  };

  void start(std::shared_ptr<Started> started);
  void failed(std::shared_ptr<Started> started, const Error& error);
  void left_alone(std::shared_ptr<Started> started);
  void succeeded(const Started& started, bool taken);
  void resume_after(bool taken);
  void probe_if_due();
  void probe();

  TaskLine& tasks_;
  const TurnClock& clock_;
  DiskEvents& events_;
  // Set by a worker whose task failed; unset where nothing is with the pool.
  const std::shared_ptr<std::atomic<bool>> failing_ = std::make_shared<std::atomic<bool>>(false);
  std::size_t task_count_ = 0;  // submitted, parked or expected
  std::size_t with_pool_ = 0;   // of these
  std::uint64_t next_place_ = 0;
  bool paused_ = false;
  bool due_ = false;      // to be tried again, and something is still with the pool
  bool probing_ = false;  // one parked task is being tried, alone
  std::map<std::uint64_t, std::shared_ptr<Started>> parked_;  // by place
  core::TimeUs retry_at_ = core::kNever;
};

}  // namespace firn::app
