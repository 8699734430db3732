#include "client/app/coding/disk_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/app/coding/pool_fixture.h"

namespace firn::app {
namespace {

const Error kFull{ErrorCode::kDiskFull, "write", "No space left on device"};

struct Heard final : DiskEvents {
  int failed = 0, paused = 0, resumed = 0, wrote = 0, ended = 0;
  bool now_paused = false;
  void disk_paused(const Error& error) override {
    CHECK(error.code == ErrorCode::kDiskFull);
    ++failed;
    if (!std::exchange(now_paused, true)) ++paused;
  }
  void disk_resumed() override {
    ++resumed;
    now_paused = false;
  }
  void disk_wrote() override { ++wrote; }
  void disk_task_ended() override { ++ended; }
};

struct DiskFixture {
  explicit DiskFixture(unsigned workers = 2) : fixture(64, workers) {}

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
    fixture.settle([this] { tasks.drain(); });
  }
  void until_ended(int tasks) {
    while (heard.ended < tasks) {
      fixture.pool.run_completions();
      std::this_thread::yield();
    }
  }
  void pass(core::TimeUs time) {
    clock.set(clock.now() + time);
    disk.wake();
    settle();
  }

  tests::PoolFixture fixture;
  TurnClock clock;
  Heard heard;
  TaskLine tasks{fixture.pool};
  DiskQueue disk{tasks, clock, heard};
  std::vector<std::string> done;
};

TEST_CASE("what waits behind a task that failed is performed after it, in order") {
  DiskFixture fixture;
  fixture.disk.submit(fixture.task("a", 1));
  fixture.disk.submit(fixture.task("b"));
  fixture.settle();
  fixture.disk.submit(fixture.task("c"));
  fixture.settle();
  CHECK(fixture.done.empty());
  CHECK(fixture.heard.paused == 1);
  CHECK(fixture.disk.paused());
  CHECK(fixture.disk.at_rest());
  CHECK(fixture.disk.next_wake() == DiskQueue::kRetryInterval);
  fixture.pass(DiskQueue::kRetryInterval - 1);
  CHECK(fixture.done.empty());
  fixture.pass(1);
  CHECK(fixture.done == std::vector<std::string>{"a", "b", "c"});
  CHECK(fixture.heard.paused == 1);
  CHECK(fixture.heard.resumed == 1);
  CHECK(fixture.heard.wrote == 3);
  CHECK_FALSE(fixture.disk.paused());
  CHECK(fixture.disk.next_wake() == core::kNever);
}

TEST_CASE("a task that fails each time it is tried keeps its place before those that wait") {
  DiskFixture fixture;
  fixture.disk.submit(fixture.task("a", 3));
  fixture.disk.submit(fixture.task("b"));
  fixture.settle();
  fixture.disk.submit(fixture.task("c"));
  for (int i = 0; i < 2; ++i) {
    fixture.pass(DiskQueue::kRetryInterval);
    CHECK(fixture.done.empty());
  }
  fixture.pass(DiskQueue::kRetryInterval);
  CHECK(fixture.done == std::vector<std::string>{"a", "b", "c"});
  CHECK(fixture.heard.paused == 1);
  CHECK(fixture.heard.failed == 3);
}

TEST_CASE("what frees room does not wait for what needs some, which is tried again at once") {
  DiskFixture fixture;
  bool full = true;
  DiskQueue::Task writes = fixture.task("writes");
  writes.work = [&full]() -> Result<bool> {
    if (full) return kFull;
    return true;
  };
  fixture.disk.submit(std::move(writes));
  fixture.settle();
  fixture.disk.submit(fixture.task("waits"));
  DiskQueue::Task frees = fixture.task("frees");
  frees.key = 2;
  frees.frees = true;
  SUBCASE("enough") {
    frees.work = [&full]() -> Result<bool> { return !(full = false); };
    fixture.disk.submit(std::move(frees));
    fixture.settle();
    CHECK(fixture.done == std::vector<std::string>{"frees", "writes", "waits"});
    CHECK_FALSE(fixture.disk.paused());
    CHECK(fixture.disk.next_wake() == core::kNever);
    CHECK(fixture.heard.failed == 1);
  }
  SUBCASE("too little") {
    fixture.disk.submit(std::move(frees));
    fixture.settle();
    CHECK(fixture.done == std::vector<std::string>{"frees"});
    CHECK(fixture.disk.paused());
    CHECK(fixture.heard.failed == 2);
    full = false;
    fixture.pass(DiskQueue::kRetryInterval);
    CHECK(fixture.done == std::vector<std::string>{"frees", "writes", "waits"});
  }
}

// Waits in `work` until the gate opens.
DiskQueue::Task gated(DiskQueue::Task task, std::promise<void>& gate) {
  task.work = [work = std::move(task.work), gate = gate.get_future().share()] {
    gate.wait();
    return work();
  };
  return task;
}

TEST_CASE("nothing is tried again before all that was with the pool has come back") {
  DiskFixture fixture;
  std::promise<void> gate;
  DiskQueue::Task late = fixture.task("late", 1);
  late.key = 2;
  fixture.disk.submit(gated(std::move(late), gate));
  fixture.disk.submit(fixture.task("first", 1));
  fixture.until_ended(1);
  for (const char* name : {"second", "third"}) fixture.disk.submit(fixture.task(name));
  fixture.clock.set(fixture.clock.now() + DiskQueue::kRetryInterval);
  fixture.disk.wake();
  CHECK(fixture.disk.next_wake() == core::kNever);
  CHECK(fixture.heard.ended == 1);
  gate.set_value();
  fixture.settle();
  CHECK(fixture.heard.paused == 1);
  CHECK(fixture.heard.resumed == 1);
  CHECK(fixture.done == std::vector<std::string>{"late", "first", "second", "third"});
}

TEST_CASE("what comes back late keeps its place before what was submitted meanwhile") {
  DiskFixture fixture(1);
  std::promise<void> gate;
  fixture.disk.submit(fixture.task("row", 1));
  REQUIRE(fixture.fixture.pool.submit(
      WorkerPool::kUnordered, [opened = gate.get_future().share()]() -> WorkerPool::Completion {
        opened.wait();
        return [] {};
      }));
  fixture.disk.submit(fixture.task("drop"));
  fixture.until_ended(1);
  fixture.disk.submit(fixture.task("row of the next life"));
  gate.set_value();
  fixture.settle();
  fixture.pass(DiskQueue::kRetryInterval);
  CHECK(fixture.done == std::vector<std::string>{"row", "drop", "row of the next life"});
}

TEST_CASE("tasks of a key are performed in order, whichever fail and however late") {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    DiskFixture fixture(3);
    std::map<int, std::vector<int>> performed;  // by key
    for (int i = 0; i < 100; ++i) {
      const int key = 1 + static_cast<int>(random() % 3);
      DiskQueue::Task task;
      task.key = static_cast<WorkerPool::Key>(key);
      task.work = [failures = random() % 8 == 0 ? 1 + random() % 2 : 0,
                   turns = random() % 30]() mutable -> Result<bool> {
        for (std::uint32_t turn = 0; turn < turns; ++turn) std::this_thread::yield();
        if (failures > 0 && failures-- > 0) return kFull;
        return true;
      };
      task.done = [&performed, key, i] { performed[key].push_back(i); };
      fixture.disk.submit(std::move(task));
      if (random() % 2 == 0) fixture.fixture.pool.run_completions();
      if (random() % 8 == 0) {
        fixture.clock.set(fixture.clock.now() + DiskQueue::kRetryInterval);
        fixture.disk.wake();
      }
    }
    fixture.settle();
    while (fixture.disk.paused()) fixture.pass(DiskQueue::kRetryInterval);
    std::size_t count = 0;
    for (const auto& [key, tasks] : performed) {
      count += tasks.size();
      CHECK(std::ranges::is_sorted(tasks));
    }
    CHECK(count == 100);
    CHECK(fixture.heard.paused == fixture.heard.resumed);
  }
}

TEST_CASE("a task that had become needless does not show that the disk takes something") {
  DiskFixture fixture;
  fixture.disk.submit(fixture.task("needless", 1, false));
  fixture.settle();
  fixture.disk.submit(fixture.task("real"));
  fixture.pass(DiskQueue::kRetryInterval);
  CHECK(fixture.done == std::vector<std::string>{"needless", "real"});
  CHECK(fixture.heard.resumed == 1);
  CHECK(fixture.heard.wrote == 1);
}

TEST_CASE("a task that is expected keeps the queue from rest until it is done") {
  DiskFixture fixture;
  fixture.disk.expect();
  CHECK_FALSE(fixture.disk.at_rest());
  fixture.disk.submit_expected(fixture.task("a"));
  CHECK_FALSE(fixture.disk.at_rest());
  fixture.settle();
  CHECK(fixture.disk.at_rest());
  CHECK(fixture.heard.ended == 1);
}

TEST_CASE("tasks that the pool has no room for wait in order") {
  tests::PoolFixture fixture(1);
  TaskLine tasks(fixture.pool);
  std::vector<int> run;
  for (int i = 0; i < 20; ++i)
    tasks.submit(WorkerPool::kUnordered,
                 [i, &run]() -> WorkerPool::Completion { return [i, &run] { run.push_back(i); }; });
  fixture.settle([&] { tasks.drain(); });
  REQUIRE(run.size() == 20);
  for (int i = 0; i < 20; ++i) CHECK(run[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("what a task gives back is thrown away when its line is gone") {
  tests::PoolFixture fixture;
  auto tasks = std::make_unique<TaskLine>(fixture.pool);
  bool ran = false, told = false;
  tasks->submit(WorkerPool::kUnordered,
                [&ran]() -> WorkerPool::Completion { return [&ran] { ran = true; }; });
  const auto tell = tasks->unless_gone([&told] { told = true; });
  tasks.reset();
  fixture.settle([] {});
  tell();
  CHECK_FALSE(ran);
  CHECK_FALSE(told);
}

}  // namespace
}  // namespace firn::app
