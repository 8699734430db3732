#include "client/app/backends/accounting.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace firn::app {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

Json stages_json(const StageTimes& times) {
  Json stages = Json::object();
  for (std::size_t s = 1; s < kTimedStageCount; ++s)
    stages[std::string(name(static_cast<Stage>(s)))] = 1e-9 * static_cast<double>(times[s]);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  stages["cpu_user"] = seconds_of(usage.ru_utime);
  stages["cpu_system"] = seconds_of(usage.ru_stime);
  return stages;
}

Json codec_json(BatchCoder* coder) {
  if (coder == nullptr) return {{"backend", "CPU"}};
  const codec::SharedBackend::Counts counts = coder->counts();
  Json by_device = Json::array();
  for (const auto& device : counts.by_device)
    by_device.push_back(
        {{"device", device.name}, {"decoded", device.decoded}, {"encoded", device.encoded}});
  return {{"backend", coder->name()},
          {"decoded_by_devices", counts.decoded_by_devices},
          {"decoded_by_cpu", counts.decoded_by_cpu},
          {"decode_batches", counts.decode_batches},
          {"encoded_by_devices", counts.encoded_by_devices},
          {"encoded_by_cpu", counts.encoded_by_cpu},
          {"by_device", by_device}};
}

Json serving_json(const ServingCounts::Figures& served) {
  return {{"encoded", served.encoded},
          {"recoded", served.recoded},
          {"stocked", served.stocked},
          {"thrown_away", served.thrown_away},
          {"generations_read", served.generations_read},
          {"generations_read_again", served.generations_read_again}};
}

std::string stages_line(const StageTimes& times) {
  std::vector<std::pair<std::uint64_t, Stage>> spent;
  for (std::size_t s = 1; s < kTimedStageCount; ++s)
    if (times[s] > 0) spent.emplace_back(times[s], static_cast<Stage>(s));
  std::sort(spent.rbegin(), spent.rend());
  std::string line;
  for (const auto& [nanoseconds, stage] : spent)
    line += fmt::format("{}{} {:.2f} s", line.empty() ? "" : ", ", name(stage),
                        1e-9 * static_cast<double>(nanoseconds));
  return line;
}

Json profile_event(const StageProfile::Spent& spent, const std::vector<ThreadWatch::Spent>& threads,
                   const StageCounts& entered) {
  Json seconds = Json::object(), times = Json::object(), waiting = Json::object();
  for (std::size_t s = 0; s < kStageCount; ++s) {
    const std::string stage(name(static_cast<Stage>(s)));
    seconds[stage] = spent.seconds[s];
    times[stage] = entered[s];
  }
  for (const ThreadWatch::Spent& thread : threads)
    waiting[thread.name] = {{"threads", thread.threads},
                            {"ran", thread.ran},
                            {"waited_for_core", thread.waited_for_core},
                            {"waited", thread.waited}};
  return {{"event", "profile"},
          {"seconds", seconds},
          {"entered", times},
          {"threads", waiting},
          {"cpu_user", spent.cpu_user},
          {"cpu_system", spent.cpu_system},
          {"samples", spent.samples},
          {"page_faults", spent.page_faults},
          {"switches_waiting", spent.switches_waiting},
          {"switches_interrupted", spent.switches_interrupted}};
}

std::vector<std::string> profile_lines(const StageProfile::Spent& spent,
                                       const std::vector<ThreadWatch::Spent>& threads) {
  const double all = spent.cpu_user + spent.cpu_system;
  std::vector<std::pair<double, Stage>> stages;
  for (std::size_t s = 0; s < kStageCount; ++s)
    if (spent.seconds[s] > 0) stages.emplace_back(spent.seconds[s], static_cast<Stage>(s));
  std::sort(stages.rbegin(), stages.rend());
  std::vector<std::string> lines;
  lines.push_back(fmt::format("processor time: {:.2f} s, of it {:.2f} s in the kernel; {} samples",
                              all, spent.cpu_system, spent.samples));
  for (const auto& [seconds, stage] : stages)
    lines.push_back(
        fmt::format("  {:<13} {:7.2f} s {:5.1f} %", name(stage), seconds, 100 * seconds / all));
  lines.push_back(
      fmt::format("{} page faults; {} times a thread waited, {} times it was interrupted",
                  spent.page_faults, spent.switches_waiting, spent.switches_interrupted));
  for (const ThreadWatch::Spent& thread : threads)
    lines.push_back(fmt::format(
        "  {:<15} {} thread{}: ran {:.2f} s, waited {:.2f} s for a core and {:.2f} s for work",
        thread.name, thread.threads, thread.threads == 1 ? "" : "s", thread.ran,
        thread.waited_for_core, thread.waited));
  return lines;
}

}  // namespace firn::app
