#include "client/app/coding/task_line.h"

namespace firn::app {

void TaskLine::submit(WorkerPool::Key key, WorkerPool::Task task) {
  WorkerPool::Task guarded = [here = here_,
                              task = std::move(task)]() mutable -> WorkerPool::Completion {
    WorkerPool::Completion then = task();
    if (!then) return {};
    return [here, then = std::move(then)] {
      if (*here) then();
    };
  };
  if (waiting_.empty() && pool_.submit(key, std::move(guarded))) return;
  waiting_.push_back({key, std::move(guarded)});
}

void TaskLine::drain() {
  while (!waiting_.empty() && pool_.submit(waiting_.front().key, std::move(waiting_.front().task)))
    waiting_.pop_front();
}

}  // namespace firn::app
