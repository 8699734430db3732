#include "tracker/app/reload.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "proto/program/config_keys.h"

namespace firn::tracker {
namespace {

// What main.cc gives a tracker that runs.
constexpr std::array<std::string_view, 10> kChangeable = {
    "closed",          "drain",      "interval",           "log-level",
    "peer-ttl",        "publishers", "publisher-contents", "publisher-manifest-kib",
    "publisher-peers", "rates"};

// Empty and missing are the same: the option's default.
std::vector<std::string> value_in(const OptionValues& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? std::vector<std::string>() : found->second;
}

std::string joined(const std::set<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : ", ") + key;
  return text;
}

}  // namespace

OptionValues values_of(const CLI::App& app) {
  OptionValues values;
  for (const CLI::Option* option : app.get_options()) {
    const std::string key = key_of(*option);
    if (!key.empty() && option->get_configurable()) values[key] = option->results();
  }
  return values;
}

Changes Reload::take(const OptionValues& fresh) {
  Changes changes;
  OptionValues all = in_force_;
  all.insert(fresh.begin(), fresh.end());
  for (const auto& [key, value] : all) {
    if (value_in(in_force_, key) == value_in(fresh, key)) continue;
    const bool now = std::ranges::find(kChangeable, key) != kChangeable.end();
    (now ? changes.applied : changes.waiting).insert(key);
  }
  for (const std::string& key : changes.applied) in_force_[key] = value_in(fresh, key);
  return changes;
}

std::string text_of(const Changes& changes) {
  std::string text = "configuration read again";
  if (!changes.applied.empty()) text += "; changed: " + joined(changes.applied);
  if (!changes.waiting.empty()) text += "; only with the next start: " + joined(changes.waiting);
  return text;
}

}  // namespace firn::tracker
