// A thread for what would have an I/O thread stand still.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace firn::tracker {

class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { stop(); }

  // Runs the tasks on its thread, which the first one begins, in their order; at once where no
  // thread can be had. Any thread.
  void run(std::function<void()> task);
  // Waits for the task under way; those after it are dropped, and so are later ones. Not on its own
  // thread.
  void stop();

 private:
  void work();

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace firn::tracker
