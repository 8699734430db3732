// An Executor with threads of its own, for programs that have none: the benchmark, batch encoders.
//
// A thread without work watches for the next run for some tens of microseconds, giving way to other
// threads, before it sleeps: a run that follows soon finds it awake. Waking a sleeping thread can
// take longer than a small product. run() waits for the last task in the same way.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "codec/executor.h"

namespace firn::codec {

class ThreadPool : public Executor {
 public:
  // `threads` at least 1; the caller of run() is one of them, so threads - 1 are started here, or
  // as many as the system gives.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t threads() const override { return workers_.size() + 1; }
  // Any thread may call; runs of several callers follow one another.
  void run(std::size_t count, const std::function<void(std::size_t)>& task) override;

 private:
  void work();
  // Takes tasks until none is left; `lock` is held before and after, not while a task runs.
  void take_tasks(std::unique_lock<std::mutex>& lock);

  std::mutex one_run_;  // held through run()
  std::mutex mutex_;    // guards all below
  std::condition_variable tasks_waiting_, all_ended_;
  const std::function<void(std::size_t)>* task_ = nullptr;
  std::size_t count_ = 0, next_ = 0;
  // These two are also watched without the mutex.
  std::atomic<std::size_t> runs_ = 0;   // begun, and one more for the end of the pool
  std::atomic<std::size_t> ended_ = 0;  // tasks of this run
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace firn::codec
