#include "client/app/coding/disk_queue.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/app/coding/pool_fixture.h"

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

struct DiskFixture {
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
}

TEST_CASE("a task that fails late starts no second try beside the one under way") {
  DiskFixture fixture;
  std::promise<void> fails, succeeds;
  DiskQueue::Task late = fixture.task("late", 1);
  late.key = 2;
  late.work = [work = late.work, gate = fails.get_future().share()]() mutable {
    gate.wait();
    return work();
  };
  DiskQueue::Task first = fixture.task("first", 1);
  first.work = [work = first.work, tries = 0, gate = succeeds.get_future().share()]() mutable {
    if (++tries == 2) gate.wait();
    return work();
  };
  const auto until_ended = [&fixture](int tasks) {
    while (fixture.heard.ended < tasks) {
      fixture.fixture.pool.run_completions();
      std::this_thread::yield();
    }
  };
  fixture.disk.submit(std::move(late));
  fixture.disk.submit(std::move(first));
  until_ended(1);
  for (const char* name : {"second", "third"}) fixture.disk.submit(fixture.task(name));
  fixture.clock.set(fixture.clock.now() + DiskQueue::kRetryInterval);
  fixture.disk.wake();  // the first is tried again, and takes its time
  fails.set_value();
  until_ended(2);
  CHECK(fixture.disk.next_wake() == core::kNever);
  succeeds.set_value();
  fixture.settle();
  CHECK(fixture.heard.paused == 1);
  CHECK(fixture.heard.resumed == 1);
  std::erase(fixture.done, "late");
  CHECK(fixture.done == std::vector<std::string>{"first", "second", "third"});
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
