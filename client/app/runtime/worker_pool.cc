#include "client/app/runtime/worker_pool.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "proto/base/start_thread.h"
#include "proto/base/thread_times.h"

namespace firn::app {

namespace {

// A pool does with those that it gets. Without one it refuses tasks, and asks again with each.
bool add_thread(std::vector<std::thread>& threads, std::function<void()> work) {
  auto thread = start_thread("coding and the disk", std::move(work));
  if (!thread) return false;
  threads.push_back(*std::move(thread));
  return true;
}

// For a task that found no memory. Its large buffers are what it asks for first.
constexpr std::chrono::milliseconds kTaskAgainAfter{500};

// False: it found no memory, and can be performed again.
bool perform_task(WorkerPool::Task& task, WorkerPool::Completion& completion) {
  try {
    completion = task();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

unsigned default_worker_count() {
  return std::max(2u, std::thread::hardware_concurrency());
}

unsigned peer_worker_count() {
  return std::min(8u, default_worker_count());
}

WorkerPool::WorkerPool(const Options& options, std::function<void()> on_completion)
    : task_count_max_(options.task_count_max),
      long_count_max_(std::max(1u, options.threads / 2)),
      stages_(options.stages),
      on_completion_(std::move(on_completion)) {
  while (threads_.size() < std::max(1u, options.threads) &&
         add_thread(threads_, [this] { work(); })) {
  }
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::submit(Key key, Task&& task) {
  if (task_count_ >= task_count_max_) return false;
  if (threads_.empty() && !add_thread(threads_, [this] { work(); })) return false;
  ++task_count_;
  {
    std::lock_guard lock(mutex_);
    if (key != kUnordered) {
      const auto [entry, fresh] = busy_.try_emplace(key);
      if (!fresh) {
        entry->second.push_back(std::move(task));
        return true;
      }
    }
    ready_.push_back({key, std::move(task)});
  }
  const StageScope stage(Stage::kWakeUps);
  ready_changed_.notify_one();
  return true;
}

bool WorkerPool::submit_long(Task&& task) {
  if (task_count_ >= task_count_max_) return false;
  if (threads_.empty() && !add_thread(threads_, [this] { work(); })) return false;
  ++task_count_;
  {
    std::lock_guard lock(mutex_);
    long_.push_back(std::move(task));
  }
  ready_changed_.notify_one();
  return true;
}

std::size_t WorkerPool::run_completions() {
  std::vector<Completion> done;
  {
    std::lock_guard lock(mutex_);
    done.swap(completions_);
  }
  task_count_ -= done.size();
  for (Completion& completion : done)
    if (completion) completion();
  return done.size();
}

// With mutex_ held, where there is one.
WorkerPool::Ready WorkerPool::take() {
  Ready next;
  if (may_take_long()) {
    ++long_count_;
    next = {kUnordered, std::move(long_.front()), true};
    long_.pop_front();
  } else {
    next = std::move(ready_.front());
    ready_.pop_front();
  }
  return next;
}

// With mutex_ held. What may be taken now, this thread looks for at once.
void WorkerPool::ended(const Ready& task) {
  if (task.is_long) --long_count_;
  if (task.key == kUnordered) return;
  const auto entry = busy_.find(task.key);
  if (entry->second.empty()) {
    busy_.erase(entry);
  } else {  // to the back: keys take turns
    ready_.push_back({task.key, std::move(entry->second.front())});
    entry->second.pop_front();
  }
}

void WorkerPool::work() {
  const StageClock::Attach counted(stages_, Stage::kWorkerTurns);
  name_this_thread("firn-worker");
  std::unique_lock lock(mutex_);
  for (;;) {
    {
      const StageScope stage(Stage::kWaits);
      ready_changed_.wait(lock, [this] { return stopping_ || !ready_.empty() || may_take_long(); });
    }
    if (stopping_) return;
    Ready next = take();
    lock.unlock();

    Completion completion;
    {
      const StageScope stage(Stage::kTasks);
      while (!perform_task(next.task, completion)) {
        lock.lock();
        if (ready_changed_.wait_for(lock, kTaskAgainAfter, [this] { return stopping_; })) return;
        lock.unlock();
      }
      next.task = nullptr;  // what it captured is freed before others learn that it is done
    }

    lock.lock();
    ended(next);
    const bool first = completions_.empty();
    completions_.push_back(std::move(completion));
    if (first) {
      lock.unlock();
      on_completion_();
      lock.lock();
    }
  }
}

}  // namespace firn::app
