// What the threads of this process do with their time, as the kernel counts it: run, wait for a
// core that others use, or wait for something else (work, a lock, a disk). Beside StageProfile,
// which tells what the running was for: a thread that always runs or waits for a core is the
// bottleneck.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

namespace firn {

// What the kernel (top -H, perf) and ThreadWatch show of this thread; the first 15 bytes count.
void name_this_thread(const char* name);

class ThreadWatch {
 public:
  // All threads of one name, added up; in seconds.
  struct Spent {
    std::string name;
    std::size_t threads = 0;
    double ran = 0, waited_for_core = 0, waited = 0;
  };

  // From now on. A thread that begins later counts as waiting until then, one that ends not at all.
  // `tasks`: where the kernel tells of each thread; another folder only in tests.
  explicit ThreadWatch(std::filesystem::path tasks = "/proc/self/task");

  // By name. Empty where the kernel does not count (CONFIG_SCHED_INFO): there is no schedstat, or
  // nothing but zeros in it.
  std::vector<Spent> spent() const;

 private:
  struct Times {
    std::string name;
    std::uint64_t ran_ns = 0, waited_for_core_ns = 0;
  };
  using ByThread = std::unordered_map<std::string, Times>;  // by the kernel's number
  ByThread read() const;

  const std::filesystem::path tasks_;
  const std::uint64_t start_ns_;
  const ByThread at_start_;
};

}  // namespace firn
