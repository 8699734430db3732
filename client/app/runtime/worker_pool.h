// A bounded number of threads for coding, hashing and disk work.
//
// Flow: the owner thread submit()s a task; a worker runs it; what the task returns (its completion)
// is handed back and run by the owner thread in run_completions().
//
// Bound: `task_count_max` counts tasks that wait, run, or whose completion has not been run. At the
// bound submit() refuses: the caller keeps the task and tries again after run_completions(). It
// never blocks, so that the owner thread, which alone makes room, cannot wait for itself.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "proto/base/stage_times.h"

namespace firn::app {

// One thread per core, at least two (one may sit in the disk).
unsigned default_worker_count();
// Likewise, and at most eight: those of a peer beside its sockets. With the default shape more keep
// memory and find little to do, as sockets bring less than eight cores code, hash and write (note
// 089).
unsigned peer_worker_count();

class WorkerPool {
 public:
  using Completion = std::function<void()>;  // empty: nothing to do
  using Task = std::function<Completion()>;  // must not throw
  using Key = std::uint64_t;
  static constexpr Key kUnordered = 0;

  struct Options {
    unsigned threads = peer_worker_count();
    std::size_t task_count_max = 4096;
    StageClock* stages = nullptr;  // where the workers' time is counted; outlives the pool
  };

  // `on_completion` is called by workers, without locks, when completions wait where none did.
  WorkerPool(const Options& options, std::function<void()> on_completion);
  // Waits for the tasks that run; those that wait, and all completions, are thrown away.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Tasks with the same key (but for kUnordered) run one at a time, in the order of submission.
  // False: the bound is reached, `task` is untouched. Owner thread.
  [[nodiscard]] bool submit(Key key, Task&& task);
  // Likewise of a task that may take minutes. Half of the threads run such tasks at most, and one
  // at least: the others are for what somebody waits for.
  [[nodiscard]] bool submit_long(Task&& task);

  // Runs the completions that wait; their number. Completions may submit. Owner thread.
  std::size_t run_completions();

  // Tasks whose completion has not been run. Owner thread.
  std::size_t task_count() const { return task_count_; }

 private:
  struct Ready {
    Key key = kUnordered;
    Task task;
    bool is_long = false;
  };
  void work();
  bool may_take_long() const { return !long_.empty() && long_count_ < long_count_max_; }
  Ready take();
  void ended(const Ready& task);

  const std::size_t task_count_max_;
  const unsigned long_count_max_;
  StageClock* const stages_;
  const std::function<void()> on_completion_;
  std::size_t task_count_ = 0;  // owner thread's

  std::mutex mutex_;
  std::condition_variable ready_changed_;
  bool stopping_ = false;
  std::deque<Ready> ready_;
  std::deque<Task> long_;
  unsigned long_count_ = 0;  // that run
  // Keys of tasks that wait in ready_ or run, with the tasks behind them.
  std::unordered_map<Key, std::deque<Task>> busy_;
  std::vector<Completion> completions_;
  std::vector<std::thread> threads_;
};

}  // namespace firn::app
