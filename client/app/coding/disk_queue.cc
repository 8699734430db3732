#include "client/app/coding/disk_queue.h"

#include <utility>

#include "proto/base/stage_times.h"
#include "proto/base/within_memory.h"

namespace firn::app {
void DiskQueue::submit(Task task) {
  expect();
  submit_expected(std::move(task));
}

void DiskQueue::submit_expected(Task task) {
  auto started = std::make_shared<Started>(Started{std::move(task), next_place_++});
  if (paused_ && !started->task.frees) {
    parked_[started->place] = std::move(started);
  } else {
    start(std::move(started));
  }
}

void DiskQueue::start(std::shared_ptr<Started> started) {
  const WorkerPool::Key key = started->task.key;
  ++with_pool_;
  tasks_.submit(
      key, [this, failing = failing_, started = std::move(started)]() -> WorkerPool::Completion {
        if (*failing && !started->task.frees) return [this, started] { left_alone(started); };
        // What else the task does has stages of its own.
        const StageScope stage(Stage::kDiskWrite);
        Result<bool> taken =
            within_memory("work on the content", [&] { return started->task.work(); });
        if (!taken.ok()) *failing = true;
        return [this, started, taken = std::move(taken)] {
          if (!taken.ok()) return failed(started, taken.error());
          succeeded(*started, *taken);
        };
      });
}

void DiskQueue::failed(std::shared_ptr<Started> started, const Error& error) {
  --with_pool_;
  parked_[started->place] = std::move(started);
  // Tasks that fail together are told once.
  const bool news = !std::exchange(paused_, true) || std::exchange(probing_, false);
  if (news) events_.disk_paused(error);
  if (!due_) retry_at_ = clock_.now() + kRetryInterval;
  probe_if_due();
  events_.disk_task_ended();
}

// Not performed: another task had failed, which is parked or about to be.
void DiskQueue::left_alone(std::shared_ptr<Started> started) {
  --with_pool_;
  parked_[started->place] = std::move(started);
  probe_if_due();
  events_.disk_task_ended();
}

void DiskQueue::succeeded(const Started& started, bool taken) {
  --task_count_;
  --with_pool_;
  if (started.task.progress && taken) events_.disk_wrote();
  if (started.task.frees) {
    due_ = paused_;
  } else if (std::exchange(probing_, false)) {
    resume_after(taken);
  }
  probe_if_due();
  started.task.done();
  events_.disk_task_ended();
}

// The parked task that was tried has succeeded.
void DiskQueue::resume_after(bool taken) {
  // A task that had become needless says nothing about the disk.
  if (!taken && !parked_.empty()) return probe();
  paused_ = due_ = false;
  events_.disk_resumed();
  for (auto& [place, task] : std::exchange(parked_, {})) start(std::move(task));
}

void DiskQueue::wake() {
  if (retry_at_ > clock_.now()) return;
  retry_at_ = core::kNever;
  due_ = true;
  probe_if_due();
}

// A task that a worker has yet to leave alone may be one that what is parked has to come after.
void DiskQueue::probe_if_due() {
  if (!due_ || with_pool_ > 0) return;
  due_ = false;
  probe();
}

void DiskQueue::probe() {
  retry_at_ = core::kNever;
  *failing_ = false;
  probing_ = true;
  auto first = parked_.begin();
  auto task = std::move(first->second);
  parked_.erase(first);
  start(std::move(task));
}

}  // namespace firn::app
