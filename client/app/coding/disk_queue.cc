#include "client/app/coding/disk_queue.h"

#include <algorithm>
#include <utility>

#include "proto/base/stage_times.h"

namespace firn::app {
namespace {

void raise(std::atomic<std::uint64_t>& value, std::uint64_t to) {
  std::uint64_t seen = value;
  while (seen < to && !value.compare_exchange_weak(seen, to)) {
  }
}

}  // namespace

void DiskQueue::submit(Task task) {
  expect();
  submit_expected(std::move(task));
}

void DiskQueue::submit_expected(Task task) {
  auto started = std::make_shared<Started>(Started{std::move(task)});
  if (paused_) {
    parked_.push_back(std::move(started));
  } else {
    start(std::move(started));
  }
}

void DiskQueue::start(std::shared_ptr<Started> started) {
  const WorkerPool::Key key = started->task.key;
  started->turn = turn_;
  tasks_.submit(
      key,
      [this, failed_turn = failed_turn_, started = std::move(started)]() -> WorkerPool::Completion {
        if (started->turn <= *failed_turn) return [this, started] { left_alone(started); };
        // What else the task does has stages of its own.
        const StageScope stage(Stage::kDiskWrite);
        Result<bool> taken = started->task.work();
        if (!taken.ok()) raise(*failed_turn, started->turn);
        return [this, started, taken = std::move(taken)] {
          if (!taken.ok()) return failed(started, taken.error());
          succeeded(*started, *taken);
        };
      });
}

void DiskQueue::failed(std::shared_ptr<Started> started, const Error& error) {
  turn_ = std::max(turn_, started->turn + 1);
  park(std::move(started));
  if (!paused_) {
    paused_ = true;
    events_.disk_paused(error);
  }
  // A task of an earlier turn may fail while another is being tried again: that one decides.
  if (!probing_) retry_at_ = clock_.now() + kRetryInterval;
  events_.disk_task_ended();
}

// Tasks that were under way when the first one failed come back in their own order. The one that
// was tried again keeps its place before all that waits.
void DiskQueue::park(std::shared_ptr<Started> started) {
  if (std::exchange(started->probe, false)) {
    probing_ = false;
    parked_.push_front(std::move(started));
  } else {
    parked_.push_back(std::move(started));
  }
}

// Not performed: another task of its turn failed. Its place is behind that one, which is parked or
// about to be.
void DiskQueue::left_alone(std::shared_ptr<Started> started) {
  FIRN_CHECK(!started->probe);  // alone in its turn
  if (paused_ || started->turn == turn_) {
    park(std::move(started));
    events_.disk_task_ended();
  } else {
    start(std::move(started));
  }
}

void DiskQueue::succeeded(const Started& started, bool taken) {
  --task_count_;
  if (started.task.progress && taken) events_.disk_wrote();
  if (started.probe) resume_after(taken);
  started.task.done();
  events_.disk_task_ended();
}

// The parked task that was tried has succeeded.
void DiskQueue::resume_after(bool taken) {
  probing_ = false;
  // A task that had become needless says nothing about the disk.
  if (!taken && !parked_.empty()) return probe();
  paused_ = false;
  retry_at_ = core::kNever;
  events_.disk_resumed();
  for (auto& task : std::exchange(parked_, {})) start(std::move(task));
}

void DiskQueue::probe() {
  probing_ = true;
  auto first = std::move(parked_.front());
  parked_.pop_front();
  first->probe = true;
  start(std::move(first));
}

void DiskQueue::wake() {
  if (retry_at_ > clock_.now()) return;
  retry_at_ = core::kNever;
  if (!parked_.empty()) probe();
}

}  // namespace firn::app
