// What threads do with their time.
#include "proto/base/thread_times.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <latch>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace firn {
namespace {

std::optional<ThreadWatch::Spent> spent_by(const ThreadWatch& watch, std::string_view name) {
  const auto all = watch.spent();
  const auto found = std::ranges::find(all, name, &ThreadWatch::Spent::name);
  if (found == all.end()) return std::nullopt;
  return *found;
}

// Whether the thread ran so long. The deadline only ends a hang.
bool await_ran(const ThreadWatch& watch, std::string_view name, double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto spent = spent_by(watch, name);
    if (spent && spent->ran >= seconds) return true;
  }
  return false;
}

// What the kernel tells of threads, in a folder of the test's own.
class Tasks {
 public:
  Tasks() { CHECK(std::filesystem::create_directory(folder_)); }
  ~Tasks() { std::filesystem::remove_all(folder_); }

  void tell(const char* number, const char* name, const char* schedstat) {
    const auto task = folder_ / number;
    std::filesystem::create_directories(task);
    std::ofstream(task / "comm") << name << '\n';
    std::ofstream(task / "schedstat") << schedstat << '\n';
  }

  const std::filesystem::path& folder() const { return folder_; }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("firn-tasks-" + std::to_string(::getpid()));
};

TEST_CASE("a thread that works runs, and one that has nothing to do waits") {
  std::latch named(3), over(1);
  std::atomic<bool> stop = false;
  const auto sleep = [&] {
    name_this_thread("sleeps");
    named.arrive_and_wait();
    over.wait();
  };
  std::jthread first(sleep), second(sleep);
  std::jthread busy([&] {
    name_this_thread("works");
    named.arrive_and_wait();
    while (!stop) {
    }
  });
  named.wait();
  const ThreadWatch watch;
  if (!watch.spent().empty()) {  // the kernel counts
    CHECK(await_ran(watch, "works", 0.05));
    const auto sleeps = spent_by(watch, "sleeps").value_or(ThreadWatch::Spent{});
    CHECK(sleeps.threads == 2);
    CHECK(sleeps.waited > 10 * sleeps.ran);
    const auto works = spent_by(watch, "works").value_or(ThreadWatch::Spent{});
    CHECK(works.threads == 1);
    CHECK(works.ran > sleeps.ran);
  }
  stop = true;
  over.count_down();
}

TEST_CASE("what a thread did before the watch began is not counted") {
  std::latch over(1), worked(1);
  bool counted = false, ran = false;
  std::jthread thread([&] {
    name_this_thread("did work");
    const ThreadWatch from_its_start;
    counted = !from_its_start.spent().empty();
    ran = counted && await_ran(from_its_start, "did work", 0.05);
    worked.count_down();
    over.wait();
  });
  worked.wait();
  CHECK(ran == counted);
  const ThreadWatch watch;
  if (const auto spent = spent_by(watch, "did work")) CHECK(spent->ran < 0.05);
  over.count_down();
}

TEST_CASE("a kernel that tells nothing but zeros does not count") {
  Tasks tasks;
  tasks.tell("7", "works", "0 0 0");
  const ThreadWatch watch(tasks.folder());
  CHECK(watch.spent().empty());
  tasks.tell("7", "works", "5000000000 1000000000 3");
  CHECK(spent_by(watch, "works").value().ran == doctest::Approx(5));
  CHECK(spent_by(watch, "works").value().waited_for_core == doctest::Approx(1));
}

TEST_CASE("a thread with the number of one that has ended is counted from its own start") {
  Tasks tasks;
  tasks.tell("7", "ends", "9000000000 4000000000 3");
  tasks.tell("8", "stays", "9000000000 4000000000 3");
  const ThreadWatch watch(tasks.folder());
  tasks.tell("7", "begins", "2000000000 1000000000 1");
  tasks.tell("8", "stays", "9500000000 4000000000 4");
  const auto begins = spent_by(watch, "begins").value();
  CHECK(begins.ran == doctest::Approx(2));
  CHECK(begins.waited_for_core == doctest::Approx(1));
  CHECK(begins.waited == 0);
  CHECK(spent_by(watch, "stays").value().ran == doctest::Approx(0.5));
}

TEST_CASE("a name is cut to what the kernel keeps") {
  std::jthread([] {
    name_this_thread("a name of more than fifteen bytes");
    const ThreadWatch watch;
    if (!watch.spent().empty()) CHECK(spent_by(watch, "a name of more "));
  }).join();
}

}  // namespace
}  // namespace firn
