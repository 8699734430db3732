#include "client/app/coding/disk_queue.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/app/coding/pool_bench.h"

namespace firn::app {
namespace {

const Error kFull{ErrorCode::kDiskFull, "write", "No space left on device"};

struct Heard final : DiskEvents {
  int paused = 0, resumed = 0, wrote = 0, ended = 0;
  void disk_paused(const Error& error) override {
    CHECK(error.code == ErrorCode::kDiskFull);
    ++paused;
  }
  void disk_resumed() override { ++resumed; }
  void disk_wrote() override { ++wrote; }
  void disk_task_ended() override { ++ended; }
};

struct DiskBench {
  // `name` is noted when the task has succeeded; it fails the first `failures` times.
  DiskQueue::Task task(const std::string& name, int failures = 0, bool taken = true) {
    DiskQueue::Task task;
    task.key = 1;
    task.work = [failures, taken]() mutable -> Result<bool> {
      if (failures > 0 && failures-- > 0) return kFull;
      return taken;
    };
    task.done = [this, name] { done.push_back(name); };
    return task;
  }
  void settle() {
    bench.settle([this] { tasks.drain(); });
  }
  void pass(core::TimeUs time) {
    clock.set(clock.now() + time);
    disk.wake();
    settle();
  }

  tests::PoolBench bench;
  TurnClock clock;
  Heard heard;
  TaskLine tasks{bench.pool};
  DiskQueue disk{tasks, clock, heard};
  std::vector<std::string> done;
};

TEST_CASE("what waits behind a task that failed is performed after it, in order") {
  DiskBench bench;
  bench.disk.submit(bench.task("a", 1));
  bench.disk.submit(bench.task("b"));
  bench.settle();
  bench.disk.submit(bench.task("c"));
  bench.settle();
  CHECK(bench.done.empty());
  CHECK(bench.heard.paused == 1);
  CHECK(bench.disk.paused());
  CHECK(bench.disk.at_rest());
  CHECK(bench.disk.next_wake() == DiskQueue::kRetryInterval);
  bench.pass(DiskQueue::kRetryInterval - 1);
  CHECK(bench.done.empty());
  bench.pass(1);
  CHECK(bench.done == std::vector<std::string>{"a", "b", "c"});
  CHECK(bench.heard.paused == 1);
  CHECK(bench.heard.resumed == 1);
  CHECK(bench.heard.wrote == 3);
  CHECK_FALSE(bench.disk.paused());
  CHECK(bench.disk.next_wake() == core::kNever);
}

TEST_CASE("a task that fails each time it is tried keeps its place before those that wait") {
  DiskBench bench;
  bench.disk.submit(bench.task("a", 3));
  bench.disk.submit(bench.task("b"));
  bench.settle();
  bench.disk.submit(bench.task("c"));
  for (int i = 0; i < 2; ++i) {
    bench.pass(DiskQueue::kRetryInterval);
    CHECK(bench.done.empty());
  }
  bench.pass(DiskQueue::kRetryInterval);
  CHECK(bench.done == std::vector<std::string>{"a", "b", "c"});
  CHECK(bench.heard.paused == 1);
}

TEST_CASE("a task that fails late starts no second try beside the one under way") {
  DiskBench bench;
  std::promise<void> fails, succeeds;
  DiskQueue::Task late = bench.task("late", 1);
  late.key = 2;
  late.work = [work = late.work, gate = fails.get_future().share()]() mutable {
    gate.wait();
    return work();
  };
  DiskQueue::Task first = bench.task("first", 1);
  first.work = [work = first.work, tries = 0, gate = succeeds.get_future().share()]() mutable {
    if (++tries == 2) gate.wait();
    return work();
  };
  const auto until_ended = [&bench](int tasks) {
    while (bench.heard.ended < tasks) {
      bench.bench.pool.run_completions();
      std::this_thread::yield();
    }
  };
  bench.disk.submit(std::move(late));
  bench.disk.submit(std::move(first));
  until_ended(1);
  for (const char* name : {"second", "third"}) bench.disk.submit(bench.task(name));
  bench.clock.set(bench.clock.now() + DiskQueue::kRetryInterval);
  bench.disk.wake();  // the first is tried again, and takes its time
  fails.set_value();
  until_ended(2);
  CHECK(bench.disk.next_wake() == core::kNever);
  succeeds.set_value();
  bench.settle();
  CHECK(bench.heard.paused == 1);
  CHECK(bench.heard.resumed == 1);
  std::erase(bench.done, "late");
  CHECK(bench.done == std::vector<std::string>{"first", "second", "third"});
}

TEST_CASE("a task that had become needless does not show that the disk takes something") {
  DiskBench bench;
  bench.disk.submit(bench.task("needless", 1, false));
  bench.settle();
  bench.disk.submit(bench.task("real"));
  bench.pass(DiskQueue::kRetryInterval);
  CHECK(bench.done == std::vector<std::string>{"needless", "real"});
  CHECK(bench.heard.resumed == 1);
  CHECK(bench.heard.wrote == 1);
}

TEST_CASE("a task that is expected keeps the queue from rest until it is done") {
  DiskBench bench;
  bench.disk.expect();
  CHECK_FALSE(bench.disk.at_rest());
  bench.disk.submit_expected(bench.task("a"));
  CHECK_FALSE(bench.disk.at_rest());
  bench.settle();
  CHECK(bench.disk.at_rest());
  CHECK(bench.heard.ended == 1);
}

TEST_CASE("tasks that the pool has no room for wait in order") {
  tests::PoolBench bench(1);
  TaskLine tasks(bench.pool);
  std::vector<int> run;
  for (int i = 0; i < 20; ++i)
    tasks.submit(WorkerPool::kUnordered,
                 [i, &run]() -> WorkerPool::Completion { return [i, &run] { run.push_back(i); }; });
  bench.settle([&] { tasks.drain(); });
  REQUIRE(run.size() == 20);
  for (int i = 0; i < 20; ++i) CHECK(run[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("what a task gives back is thrown away when its line is gone") {
  tests::PoolBench bench;
  auto tasks = std::make_unique<TaskLine>(bench.pool);
  bool ran = false, told = false;
  tasks->submit(WorkerPool::kUnordered,
                [&ran]() -> WorkerPool::Completion { return [&ran] { ran = true; }; });
  const auto tell = tasks->unless_gone([&told] { told = true; });
  tasks.reset();
  bench.settle([] {});
  tell();
  CHECK_FALSE(ran);
  CHECK_FALSE(told);
}

}  // namespace
}  // namespace firn::app
