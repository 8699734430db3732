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
  for (std::size_t s = 1; s < kStageCount; ++s)
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

std::string stages_line(const StageTimes& times) {
  std::vector<std::pair<std::uint64_t, Stage>> spent;
  for (std::size_t s = 1; s < kStageCount; ++s)
    if (times[s] > 0) spent.emplace_back(times[s], static_cast<Stage>(s));
  std::sort(spent.rbegin(), spent.rend());
  std::string line;
  for (const auto& [nanoseconds, stage] : spent)
    line += fmt::format("{}{} {:.2f} s", line.empty() ? "" : ", ", name(stage),
                        1e-9 * static_cast<double>(nanoseconds));
  return line;
}

}  // namespace firn::app
