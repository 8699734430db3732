#include "tracker/worker.h"

#include <utility>

#include "proto/base/start_thread.h"

namespace firn::tracker {

void Worker::run(std::function<void()> task) {
  std::unique_lock lock(mutex_);
  if (stopped_) return;
  if (!thread_.joinable()) {
    auto thread = start_thread("the check of manifests", [this] { work(); });
    if (!thread) {
      lock.unlock();
      return task();
    }
    thread_ = std::move(thread).value();
  }
  tasks_.push_back(std::move(task));
  changed_.notify_one();
}

void Worker::stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  tasks_.clear();
  changed_.notify_one();
  lock.unlock();
  if (thread_.joinable()) thread_.join();
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
    if (stopped_) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace firn::tracker
