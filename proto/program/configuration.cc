#include "proto/program/configuration.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "proto/base/plain_text.h"
#include "proto/program/config_keys.h"
#include "proto/program/user_folders.h"

namespace firn {
namespace {

constexpr const char* kGroup = "Configuration";
constexpr std::size_t kRankOfFile = 1000;  // more than tables can lie in one another

// What the file says of an option of a command: the entry in the deepest table.
const ConfigEntry* entry_for(const ConfigFile& file, const std::vector<std::string>& command,
                             const CLI::Option& option) {
  const ConfigEntry* deepest = nullptr;
  for (const ConfigEntry& entry : file.entries) {
    const std::size_t depth = entry.path.size() - 1;
    if (entry.key() != key_of(option) || !fits(option, entry)) continue;
    if (depth > command.size() || !std::equal(command.begin(), command.begin() + depth,
                                              entry.path.begin(), entry.path.end() - 1))
      continue;
    if (deepest == nullptr || entry.path.size() > deepest->path.size()) deepest = &entry;
  }
  return deepest;
}

bool is_off(const Setting& setting, const CLI::Option& option) {
  return is_switch(option) ? setting.values.front() != "true" : setting.values.empty();
}

using Settings = std::map<CLI::Option*, Setting>;

Result<Settings> without_excluded(const Settings& all, const CommandWords& words) {
  Settings left;
  for (const auto& [option, setting] : all) {
    bool excluded = words.has(option);
    for (CLI::Option* other : option->get_excludes()) {
      excluded |= words.has(other);
      const auto rival = all.find(other);
      if (rival == all.end()) continue;
      excluded |= rival->second.rank > setting.rank;
      if (rival->second.rank == setting.rank && !words.has(option) && !words.has(other))
        return Error{ErrorCode::kBadInput, setting.place,
                     setting.key + ": does not go with " + rival->second.key + ", at " +
                         rival->second.place};
    }
    if (!excluded) left.emplace(option, setting);
  }
  return left;
}

bool has_needed(const CLI::Option& option, const Settings& settings, const CommandWords& words) {
  const auto needed = option.get_needs();
  return std::all_of(needed.begin(), needed.end(), [&](CLI::Option* other) {
    return words.has(other) || settings.contains(other);
  });
}

// A value as it is: of an option that may have several, CLI11 would take apart what stands in
// brackets.
void give(CLI::Option& option, const std::string& value) {
  if (is_repeatable(option))
    option.expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  option.add_result(is_switch(option) ? option.get_flag_value(key_of(option), value) : value);
}

void add_config_options_to(CLI::App& app, const std::string& description) {
  app.add_option_function<std::string>(
         "--config", [](const std::string&) {}, description)
      ->option_text("FILE")
      ->configurable(false)
      ->group(kGroup);
  app.add_flag_callback(
         "--no-config", [] {}, "read no configuration")
      ->configurable(false)
      ->group(kGroup);
  for (CLI::App* command : app.get_subcommands({}))
    if (command->get_name() != "help") add_config_options_to(*command, description);
}

}  // namespace

void add_config_options(CLI::App& app, const ConfigNames& names) {
  add_config_options_to(app, "read the configuration FILE, not /etc/firn/" + names.file +
                                 " and ~/.config/firn/" + names.file);
}

std::vector<ConfigSource> config_sources(const CommandWords& words, const ConfigNames& names) {
  if (words.value_of("--no-config") != nullptr) return {};
  if (const std::string* path = words.value_of("--config")) return {{*path, true}};
  if (const char* const path = std::getenv(names.variable.c_str())) {
    if (*path == 0) return {};
    return {{path, true}};
  }
  std::vector<ConfigSource> sources = {{"/etc/firn/" + names.file}};
  const std::string folder = user_config_folder();
  if (!folder.empty()) {
    sources.push_back({folder + "/firn/" + names.file});
    sources.back().may_be_closed = true;
  }
  return sources;
}

Result<Configuration> Configuration::load(const CLI::App& app, std::vector<ConfigSource> sources) {
  Configuration configuration;
  for (ConfigSource& source : sources) {
    auto file = read_config_file(source.path);
    source.found = file.ok();
    if (!file.ok() && file.error().code == ErrorCode::kNotFound && !source.required) continue;
    if (!file.ok() && file.error().code == ErrorCode::kReadOnly && source.may_be_closed) {
      source.trouble = file.error().message();
      continue;
    }
    if (!file.ok()) return file.error();
    if (const Status known = check_keys(app, *file); !known.ok()) return known.error();
    configuration.files_.push_back(*std::move(file));
  }
  configuration.sources_ = std::move(sources);
  return configuration;
}

std::vector<Setting> Configuration::settings(const CLI::App& app,
                                             const std::vector<std::string>& command) const {
  std::vector<Setting> settings;
  for (const CLI::Option* option : app_at(app, command).get_options()) {
    const std::string key = key_of(*option);
    if (key.empty()) continue;
    for (std::size_t i = files_.size(); i-- > 0;) {
      const ConfigEntry* const entry = entry_for(files_[i], command, *option);
      if (entry == nullptr) continue;
      settings.push_back(
          {key, entry->values, files_[i].place(entry->line), i * kRankOfFile + entry->path.size()});
      break;
    }
  }
  return settings;
}

Result<std::vector<Setting>> Configuration::settings_for(CLI::App& app,
                                                         const CommandWords& words) const {
  std::vector<Setting> taken;
  if (words.asks_help() || !words.at_command()) return taken;
  CLI::App& command = app_at(app, words.command());
  Settings all;
  for (const Setting& setting : settings(app, words.command())) {
    CLI::Option* const option = command.get_option_no_throw("--" + setting.key);
    if (!is_off(setting, *option)) all.emplace(option, setting);
  }
  const auto left = without_excluded(all, words);
  if (!left.ok()) return left.error();
  for (const auto& [option, setting] : *left) {
    if (!has_needed(*option, *left, words)) continue;
    if (const Status fits = check_value(*option, setting); !fits.ok()) return fits.error();
    taken.push_back(setting);
  }
  return taken;
}

Result<std::vector<Setting>> read_settings(CLI::App& app, const CommandWords& words,
                                           const ConfigNames& names, Configuration& configuration) {
  if (!words.wrong().empty() || !words.at_command() || words.asks_help())
    return std::vector<Setting>();
  auto loaded = Configuration::load(app, config_sources(words, names));
  if (!loaded.ok()) return loaded.error();
  configuration = *std::move(loaded);
  return configuration.settings_for(app, words);
}

void parse_words(CLI::App& app, const CommandWords& words, const std::vector<Setting>& settings) {
  if (!words.wrong().empty()) throw CLI::ParseError(words.wrong(), CLI::ExitCodes::ExtrasError);
  CLI::App& command = app_at(app, words.command());
  for (const Setting& setting : settings)
    for (const std::string& value : setting.values)
      give(*command.get_option("--" + setting.key), value);
  for (const auto& [option, value] : words.values()) give(*option, value);
  // CLI11 would call one option for all its values, then the next. These want the line's order.
  for (const auto& [option, value] : words.values())
    if (option->get_trigger_on_parse()) option->run_callback();
  // Of the words the commands alone, the last first.
  std::vector<std::string> names(words.command().rbegin(), words.command().rend());
  app.parse(names);
}

Status check_value(CLI::Option& option, const Setting& setting) {
  std::optional<Error> error;
  option.clear();
  for (const std::string& value : setting.values) give(option, value);
  try {
    if (!setting.values.empty()) option.run_callback();
  } catch (const CLI::ParseError& refused) {
    std::string what = refused.what();
    const std::string name = "--" + setting.key + ": ";
    if (what.starts_with(name)) what.erase(0, name.size());
    error = Error{ErrorCode::kBadInput, setting.place, setting.key + ": " + escaped(what)};
  }
  option.clear();
  if (error) return *error;
  return Done{};
}

}  // namespace firn
