#include "proto/base/stage_profile.h"

#include <sys/resource.h>
#include <sys/time.h>

#include <atomic>
#include <csignal>
#include <numeric>

namespace firn {
namespace {

constexpr suseconds_t kTickUs = 1000;  // or the kernel's, where that is longer

std::atomic<bool> taken = false;
std::array<std::atomic<std::uint64_t>, kStageCount> samples;

extern "C" void count_sample(int) {
  samples[static_cast<std::size_t>(current_stage())].fetch_add(1, std::memory_order_relaxed);
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

StageProfile::Spent kernel_counts() {
  rusage usage{};
  FIRN_CHECK(::getrusage(RUSAGE_SELF, &usage) == 0);
  StageProfile::Spent counts;
  counts.cpu_user = seconds_of(usage.ru_utime);
  counts.cpu_system = seconds_of(usage.ru_stime);
  counts.page_faults = static_cast<std::uint64_t>(usage.ru_minflt);
  counts.switches_waiting = static_cast<std::uint64_t>(usage.ru_nvcsw);
  counts.switches_interrupted = static_cast<std::uint64_t>(usage.ru_nivcsw);
  return counts;
}

void set_timer(suseconds_t interval_us) {
  itimerval timer{};
  timer.it_interval.tv_usec = timer.it_value.tv_usec = interval_us;
  FIRN_CHECK(::setitimer(ITIMER_PROF, &timer, nullptr) == 0);
}

}  // namespace

StageProfile::StageProfile() : at_start_(kernel_counts()) {
  FIRN_CHECK(!taken.exchange(true));
  for (auto& count : samples) count = 0;
  struct sigaction action {};
  action.sa_handler = count_sample;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  FIRN_CHECK(::sigaction(SIGPROF, &action, nullptr) == 0);
  set_timer(kTickUs);
}

StageProfile::~StageProfile() {
  set_timer(0);
  // One may be on its way: ignored, as without a handler it would end the process.
  std::signal(SIGPROF, SIG_IGN);
  taken = false;
}

StageProfile::Spent StageProfile::spent() const {
  Spent spent = kernel_counts();
  spent.cpu_user -= at_start_.cpu_user;
  spent.cpu_system -= at_start_.cpu_system;
  spent.page_faults -= at_start_.page_faults;
  spent.switches_waiting -= at_start_.switches_waiting;
  spent.switches_interrupted -= at_start_.switches_interrupted;
  for (std::size_t s = 0; s < kStageCount; ++s)
    spent.seconds[s] = static_cast<double>(samples[s].load(std::memory_order_relaxed));
  const double all = std::accumulate(spent.seconds.begin(), spent.seconds.end(), 0.0);
  spent.samples = static_cast<std::uint64_t>(all);
  const double each = all > 0 ? (spent.cpu_user + spent.cpu_system) / all : 0;
  for (double& seconds : spent.seconds) seconds *= each;
  return spent;
}

}  // namespace firn
