// One piece of blocking work at a time for an object of the main thread.
#pragma once

#include <memory>
#include <utility>

#include "client/app/runtime/worker_pool.h"

namespace firn::app {

// Main thread. When it is destroyed nobody hears of the work's end any more.
class WorkerTask {
 public:
  WorkerTask() = default;
  ~WorkerTask() { *here_ = false; }
  WorkerTask(const WorkerTask&) = delete;
  WorkerTask& operator=(const WorkerTask&) = delete;

  bool busy() const { return busy_; }

  // `work` runs on a worker; what it gives back goes to `then`, on the main thread. False: the pool
  // has no room, and nothing has been started. Not while it is busy.
  template <typename Work, typename Then>
  bool start(WorkerPool& pool, Work work, Then then) {
    auto task = [this, here = here_, work = std::move(work),
                 then = std::move(then)]() mutable -> WorkerPool::Completion {
      using Outcome = decltype(work());
      const auto outcome = std::make_shared<Outcome>(work());
      return [this, here, outcome, then = std::move(then)]() mutable {
        if (!*here) return;
        busy_ = false;
        then(std::move(*outcome));
      };
    };
    busy_ = pool.submit(WorkerPool::kUnordered, std::move(task));
    return busy_;
  }

 private:
  bool busy_ = false;
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace firn::app
