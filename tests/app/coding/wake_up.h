// What threads of a pool wake a test with.
#pragma once

#include <condition_variable>
#include <mutex>

namespace firn::tests {

class WakeUp {
 public:
  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_one();
  }
  // Until it has been called since.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return woken_; });
    woken_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
};

}  // namespace firn::tests
