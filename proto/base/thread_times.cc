#include "proto/base/thread_times.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

namespace firn {
namespace {

constexpr std::size_t kNameBytes = 15;

std::uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

double seconds(std::uint64_t nanoseconds) {
  return 1e-9 * static_cast<double>(nanoseconds);
}

}  // namespace

void name_this_thread(const char* name) {
  ::pthread_setname_np(::pthread_self(), std::string(name).substr(0, kNameBytes).c_str());
}

ThreadWatch::ThreadWatch(std::filesystem::path tasks)
    : tasks_(std::move(tasks)), start_ns_(now_ns()), at_start_(read()) {}

// schedstat: nanoseconds on a core, nanoseconds ready but without one, times on a core. The first
// is 0 up to a thread's first tick; the last stays 0 only in a thread that was on no core yet, and
// where the kernel does not count.
ThreadWatch::ByThread ThreadWatch::read() const {
  ByThread threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(tasks_, error)) {
    Times times;
    std::uint64_t times_on_core = 0;
    std::ifstream stat(entry.path() / "schedstat");
    std::ifstream name(entry.path() / "comm");
    if (stat >> times.ran_ns >> times.waited_for_core_ns >> times_on_core && times_on_core > 0 &&
        std::getline(name, times.name))
      threads.emplace(entry.path().filename(), std::move(times));
  }
  return threads;
}

std::vector<ThreadWatch::Spent> ThreadWatch::spent() const {
  std::map<std::string, Spent> by_name;
  const ByThread threads = read();
  const std::uint64_t wall_ns = now_ns() - start_ns_;
  for (const auto& [number, now] : threads) {
    const auto before = at_start_.find(number);
    Times since;
    // Less than before: the kernel gave the number of a thread that ended to a new one.
    if (before != at_start_.end() && now.ran_ns >= before->second.ran_ns &&
        now.waited_for_core_ns >= before->second.waited_for_core_ns)
      since = before->second;
    const std::uint64_t ran_ns = now.ran_ns - since.ran_ns;
    const std::uint64_t queued_ns = now.waited_for_core_ns - since.waited_for_core_ns;
    Spent& spent = by_name[now.name];
    spent.name = now.name;
    ++spent.threads;
    spent.ran += seconds(ran_ns);
    spent.waited_for_core += seconds(queued_ns);
    spent.waited += seconds(wall_ns - std::min(wall_ns, ran_ns + queued_ns));
  }
  std::vector<Spent> all;
  for (auto& [name, spent] : by_name) all.push_back(std::move(spent));
  return all;
}

}  // namespace firn
