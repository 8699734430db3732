// One content's line of tasks for the process's worker pool: tasks that the pool has no room for
// wait here, in order.
//
// What tasks give back when this object is gone is thrown away: completions may use what was
// destroyed with it.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "client/app/runtime/worker_pool.h"

namespace firn::app {

// Owner thread.
class TaskLine {
 public:
  explicit TaskLine(WorkerPool& pool) : pool_(pool) {}
  ~TaskLine() { *here_ = false; }
  TaskLine(const TaskLine&) = delete;
  TaskLine& operator=(const TaskLine&) = delete;

  void submit(WorkerPool::Key key, WorkerPool::Task task);
  // The pool may have room again: it gets what waits.
  void drain();

  // `then`, which does nothing if it is called when this object is gone.
  template <typename Then>
  auto unless_gone(Then then) const {
    return [here = here_, then = std::move(then)](auto... arguments) {
      if (*here) then(std::move(arguments)...);
    };
  }

 private:
  struct Waiting {
    WorkerPool::Key key;
    WorkerPool::Task task;
  };

  WorkerPool& pool_;
  std::deque<Waiting> waiting_;
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace firn::app
