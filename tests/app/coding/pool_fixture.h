// A worker pool whose completions are run here until nothing is under way.
#pragma once

#include "client/app/runtime/worker_pool.h"
#include "tests/app/coding/wake_up.h"

namespace firn::tests {

class PoolFixture {
 public:
  explicit PoolFixture(std::size_t task_count_max = 64, unsigned threads = 2)
      : pool({.threads = threads, .task_count_max = task_count_max}, [this] { wake_up_.wake(); }) {}

  // Calls `between` after each round of completions: it may submit more.
  template <typename Between>
  void settle(const Between& between) {
    between();
    while (pool.task_count() > 0) {
      wake_up_.wait();
      pool.run_completions();
      between();
    }
  }

 private:
  WakeUp wake_up_;

 public:
  app::WorkerPool pool;  // after what its threads touch
};

}  // namespace firn::tests
