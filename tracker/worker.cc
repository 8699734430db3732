#include "tracker/worker.h"

#include <system_error>
#include <utility>

namespace firn::tracker {

void Worker::run(std::function<void()> task) {
  std::unique_lock lock(mutex_);
  if (stopped_) return;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
      lock.unlock();
      return task();
    }
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
