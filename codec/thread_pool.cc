#include "codec/thread_pool.h"

#include <cassert>
#include <chrono>

#include "codec/try_thread.h"

namespace firn::codec {
namespace {

// About what it costs to put a thread to sleep and to wake it.
constexpr std::chrono::microseconds kWatchTime{60};

// Watches `done` for a while, so that most waits end without sleep.
template <class Done>
void watch(const Done& done) {
  using Clock = std::chrono::steady_clock;
  for (const auto end = Clock::now() + kWatchTime; !done() && Clock::now() < end;) {
    std::this_thread::yield();
  }
}

}  // namespace

ThreadPool::ThreadPool(std::size_t threads) {
  assert(threads > 0);
  for (std::size_t i = 1; i < threads; ++i) {
    auto worker = try_thread([this] { work(); });
    if (!worker) break;
    workers_.push_back(*std::move(worker));
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ++runs_;
  }
  tasks_waiting_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& task) {
  if (count == 0) return;
  const std::lock_guard only(one_run_);
  std::unique_lock lock(mutex_);
  task_ = &task;
  count_ = count;
  next_ = ended_ = 0;
  ++runs_;
  if (count > 1) tasks_waiting_.notify_all();
  take_tasks(lock);
  if (ended_ < count_) {
    lock.unlock();
    watch([&] { return ended_ == count; });
    lock.lock();
  }
  all_ended_.wait(lock, [&] { return ended_ == count_; });
  task_ = nullptr;
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    tasks_waiting_.wait(lock, [&] { return stopping_ || (task_ != nullptr && next_ < count_); });
    if (stopping_) return;
    take_tasks(lock);
    const std::size_t seen = runs_;
    lock.unlock();
    watch([&] { return runs_ != seen; });
    lock.lock();
  }
}

void ThreadPool::take_tasks(std::unique_lock<std::mutex>& lock) {
  while (next_ < count_) {
    const std::size_t mine = next_++;
    const auto* task = task_;
    lock.unlock();
    (*task)(mine);
    lock.lock();
    if (++ended_ == count_) all_ended_.notify_all();
  }
}

}  // namespace firn::codec
