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

void add_words(const CLI::Option& option, const Setting& setting, std::vector<std::string>& words) {
  for (const std::string& value : setting.values) {
    words.push_back("--" + setting.key);
    if (!is_switch(option)) words.push_back(value);
  }
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

Result<std::vector<std::string>> Configuration::complete(CLI::App& app, const CommandWords& words,
                                                         int argc, const char* const* argv) const {
  std::vector<std::string> line(argv, argv + argc);
  if (words.asks_help() || !words.at_command()) return line;
  CLI::App& command = app_at(app, words.command());
  Settings all;
  for (const Setting& setting : settings(app, words.command())) {
    CLI::Option* const option = command.get_option_no_throw("--" + setting.key);
    if (!is_off(setting, *option)) all.emplace(option, setting);
  }
  const auto left = without_excluded(all, words);
  if (!left.ok()) return left.error();
  std::vector<std::string> added;
  for (const auto& [option, setting] : *left) {
    if (!has_needed(*option, *left, words)) continue;
    if (const Status taken = check_value(*option, setting); !taken.ok()) return taken.error();
    add_words(*option, setting, added);
  }
  line.insert(line.begin() + static_cast<std::ptrdiff_t>(words.command_at()) + 1, added.begin(),
              added.end());
  return line;
}

Result<std::vector<std::string>> configured_line(CLI::App& app, int argc, const char* const* argv,
                                                 const ConfigNames& names,
                                                 Configuration& configuration) {
  const CommandWords words(app, argc, argv);
  if (!words.wrong().empty() || !words.at_command() || words.asks_help())
    return std::vector<std::string>(argv, argv + argc);
  auto loaded = Configuration::load(app, config_sources(words, names));
  if (!loaded.ok()) return loaded.error();
  configuration = *std::move(loaded);
  return configuration.complete(app, words, argc, argv);
}

void parse_line(CLI::App& app, const std::vector<std::string>& line) {
  std::vector<const char*> words;
  for (const std::string& word : line) words.push_back(word.c_str());
  app.parse(static_cast<int>(words.size()), words.data());
}

Status check_value(CLI::Option& option, const Setting& setting) {
  std::optional<Error> error;
  option.clear();
  for (const std::string& value : setting.values) option.add_result(value);
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
