// What threads do with their time.
#include "proto/base/thread_times.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <optional>
#include <thread>

namespace firn {
namespace {

std::optional<ThreadWatch::Spent> spent_by(const ThreadWatch& watch, std::string_view name) {
  const auto all = watch.spent();
  const auto found = std::ranges::find(all, name, &ThreadWatch::Spent::name);
  if (found == all.end()) return std::nullopt;
  return *found;
}

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
    while (spent_by(watch, "works").value().ran < 0.05) {
    }
    const auto sleeps = spent_by(watch, "sleeps").value();
    CHECK(sleeps.threads == 2);
    CHECK(sleeps.waited > 10 * sleeps.ran);
    const auto works = spent_by(watch, "works").value();
    CHECK(works.threads == 1);
    CHECK(works.ran > sleeps.ran);
  }
  stop = true;
  over.count_down();
}

TEST_CASE("what a thread did before the watch began is not counted") {
  std::latch over(1), worked(1);
  std::jthread thread([&] {
    name_this_thread("did work");
    const ThreadWatch from_its_start;
    while (!from_its_start.spent().empty() &&
           spent_by(from_its_start, "did work").value().ran < 0.05) {
    }
    worked.count_down();
    over.wait();
  });
  worked.wait();
  const ThreadWatch watch;
  if (const auto spent = spent_by(watch, "did work")) CHECK(spent->ran < 0.05);
  over.count_down();
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
