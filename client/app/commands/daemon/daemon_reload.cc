#include "client/app/commands/daemon/daemon_reload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace firn::app {
namespace {

// What run() of commands/daemon.cc applies to a daemon that runs.
constexpr std::array<std::string_view, 12> kChangeable = {
    "content-down-limit", "content-up-limit", "down-limit", "download-dir",
    "on-added",           "on-complete",      "on-error",   "schedule",
    "seed-ratio",         "seed-time",        "up-limit",   "watch"};

using Values = std::map<std::string, std::vector<std::string>>;

Values values_of(const std::vector<Setting>& settings) {
  Values values;
  for (const Setting& setting : settings) values[setting.key] = setting.values;
  return values;
}

// The keys with other values, or values in one alone.
std::set<std::string> changed_keys(const Values& before, const Values& after) {
  std::set<std::string> keys;
  for (const auto& [from, to] : {std::pair(&before, &after), std::pair(&after, &before)})
    for (const auto& entry : *from) {
      const auto other = to->find(entry.first);
      if (other == to->end() || other->second != entry.second) keys.insert(entry.first);
    }
  return keys;
}

}  // namespace

void DaemonReload::run() {
  auto read = read_and_apply_();
  if (!read.ok()) {
    console_.error(read.error());
    console_.warning("the configuration is not taken: the daemon goes on as before");
    return;
  }
  std::set<std::string> applied, waiting;
  for (const std::string& key : changed_keys(values_of(known_), values_of(*read)))
    (std::ranges::find(kChangeable, key) != kChangeable.end() ? applied : waiting).insert(key);
  known_ = *std::move(read);
  if (!waiting.empty())
    console_.warning(fmt::format("changed in the configuration, but only for the next start: {}",
                                 fmt::join(waiting, ", ")));
  console_.info(applied.empty() ? std::string("the configuration was read again")
                                : fmt::format("the configuration was read again; changed: {}",
                                              fmt::join(applied, ", ")));
}

}  // namespace firn::app
