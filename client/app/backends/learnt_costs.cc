#include "client/app/backends/learnt_costs.h"

#include <nlohmann/json.hpp>

#include "cuda_kernels/runtime/cache_file.h"

namespace firn::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;                   // another when a coder's speed changes
constexpr std::size_t kCountMax = 1u << 24;   // as codec/measured_cost.h tells counts apart
constexpr std::size_t kSizeMax = 1u << 30;    // of n and k
constexpr std::size_t kEntriesMax = 100'000;  // no file is that long
constexpr double kSecondsMax = 3600;

std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& machine) {
  return folder / ("coding-" + cuda::cache_hash(machine) + ".json");
}

bool between(const Json& entry, const char* key, std::size_t least, std::size_t most) {
  if (!entry.contains(key) || !entry[key].is_number_unsigned()) return false;
  const auto value = entry[key].get<std::uint64_t>();
  return value >= least && value <= most;
}

bool is_cost(const Json& entry) {
  return entry.is_object() && entry.contains("member") && entry["member"].is_string() &&
         entry.contains("encode") && entry["encode"].is_boolean() &&
         between(entry, "n", 1, kSizeMax) && between(entry, "k", 1, kSizeMax) &&
         between(entry, "count", 1, kCountMax) && entry.contains("seconds") &&
         entry["seconds"].is_number() && entry["seconds"].get<double>() > 0 &&
         entry["seconds"].get<double>() <= kSecondsMax;
}

}  // namespace

std::string costs_text(const std::string& machine, const LearntCosts& costs) {
  Json all{{"version", kVersion}, {"machine", machine}, {"costs", Json::array()}};
  for (const auto& cost : costs) {
    all["costs"].push_back({{"member", cost.member},
                            {"encode", cost.encode},
                            {"n", cost.generation_size},
                            {"k", cost.block_bytes},
                            {"count", cost.count},
                            {"seconds", cost.seconds}});
  }
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

LearntCosts parse_costs(const std::string& machine, const std::string& text) {
  const Json all = Json::parse(text, nullptr, false);
  if (!all.is_object() || all.value("version", Json()) != kVersion ||
      all.value("machine", Json()) != machine || !all.contains("costs") ||
      !all["costs"].is_array() || all["costs"].size() > kEntriesMax)
    return {};
  LearntCosts costs;
  for (const Json& entry : all["costs"]) {
    if (!is_cost(entry)) return {};
    costs.push_back({entry["member"].get<std::string>(), entry["encode"].get<bool>(),
                     entry["n"].get<std::size_t>(), entry["k"].get<std::size_t>(),
                     entry["count"].get<std::size_t>(), entry["seconds"].get<double>()});
  }
  return costs;
}

LearntCosts load_costs(const std::filesystem::path& folder, const std::string& machine) {
  if (folder.empty()) return {};
  return parse_costs(machine, cuda::read_cache_file(file_of(folder, machine)));
}

void save_costs(const std::filesystem::path& folder, const std::string& machine,
                const LearntCosts& costs) {
  if (folder.empty() || costs.empty()) return;
  cuda::write_cache_file(file_of(folder, machine), costs_text(machine, costs));
}

}  // namespace firn::app
