// A worker pool whose completions are run here until nothing is under way.
#pragma once

#include <condition_variable>
#include <mutex>

#include "client/app/runtime/worker_pool.h"

namespace firn::tests {

class PoolFixture {
 public:
  explicit PoolFixture(std::size_t task_count_max = 64)
      : pool({.threads = 2, .task_count_max = task_count_max}, [this] { wake(); }) {}

  // Calls `between` after each round of completions: it may submit more.
  template <typename Between>
  void settle(const Between& between) {
    between();
    while (pool.task_count() > 0) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return woken_; });
        woken_ = false;
      }
      pool.run_completions();
      between();
    }
  }

 private:
  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_one();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;

 public:
  app::WorkerPool pool;  // after what its threads touch
};

}  // namespace firn::tests
