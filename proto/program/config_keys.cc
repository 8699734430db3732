#include "proto/program/config_keys.h"

#include "proto/base/plain_text.h"
#include "proto/program/command_words.h"
#include "proto/program/nearest_word.h"

namespace firn {
namespace {

using Kind = ConfigEntry::Kind;

void add_whole_commands(const CLI::App& app, const std::vector<std::string>& names,
                        std::vector<std::vector<std::string>>& commands) {
  const auto below = app.get_subcommands({});
  if (below.empty()) commands.push_back(names);
  for (const CLI::App* command : below) {
    std::vector<std::string> longer = names;
    longer.push_back(command->get_name());
    add_whole_commands(*command, longer, commands);
  }
}

// The options of that key, any at all for an empty one, of the commands at and below `app`.
std::vector<const CLI::Option*> options_below(const CLI::App& app, const std::string& key) {
  std::vector<const CLI::Option*> options;
  for (const auto& command : whole_commands(app))
    for (const CLI::Option* option : app_at(app, command).get_options())
      if (const std::string name = key_of(*option); !name.empty() && (key.empty() || key == name))
        options.push_back(option);
  return options;
}

// "'up-limit'", or "'up-limit' in [get]"
std::string named(const ConfigEntry& entry) {
  std::string tables;
  for (std::size_t i = 0; i + 1 < entry.path.size(); ++i)
    tables += (tables.empty() ? "" : ".") + entry.path[i];
  const std::string key = "'" + escaped(entry.key()) + "'";
  return tables.empty() ? key : key + " in [" + escaped(tables) + "]";
}

std::string unknown_key(const CLI::App& app, const ConfigEntry& entry) {
  std::vector<std::string> known;
  for (const CLI::Option* option : options_below(app, ""))
    if (option->get_configurable()) known.push_back(key_of(*option));
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  return "unknown key " + named(entry) + did_you_mean(nearest_word(entry.key(), known));
}

// Empty: the entry is of a kind that the option takes.
std::string fault_of_kind(const CLI::Option& option, const ConfigEntry& entry) {
  if (!option.get_configurable())
    return "belongs to a single run, and so to the command line alone";
  if (is_switch(option)) return entry.kind == Kind::kSwitch ? "" : "must be true or false";
  if (entry.kind == Kind::kValue) return "";
  if (is_repeatable(option))
    return entry.kind == Kind::kList ? "" : "must be a text, or a list of texts";
  return "must be a text or a number";
}

// Empty: `entry`, a key at the table for `app`, is right.
std::string fault_of_entry(const CLI::App& app, const ConfigEntry& entry) {
  const CLI::App* const command = command_of(app, entry.key());
  if (command != nullptr && entry.kind == Kind::kTable) return "";
  const auto options = options_below(app, entry.key());
  if (options.empty() && command != nullptr)
    return entry.key() + " is a command: its options stand in a table of that name";
  if (options.empty()) return unknown_key(app, entry);
  std::string fault;
  for (const CLI::Option* option : options) {
    fault = fault_of_kind(*option, entry);
    if (fault.empty()) return "";
  }
  return entry.key() + ": " + fault;
}

}  // namespace

std::string key_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : option.get_lnames().front();
}

bool is_switch(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}

bool is_repeatable(const CLI::Option& option) {
  return !is_switch(option) &&
         (option.get_items_expected_max() > 1 ||
          option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll);
}

bool fits(const CLI::Option& option, const ConfigEntry& entry) {
  return fault_of_kind(option, entry).empty();
}

std::vector<std::vector<std::string>> whole_commands(const CLI::App& app) {
  std::vector<std::vector<std::string>> commands;
  add_whole_commands(app, {}, commands);
  return commands;
}

CLI::App& app_at(CLI::App& app, const std::vector<std::string>& command) {
  CLI::App* at = &app;
  for (const std::string& name : command) at = at->get_subcommand(name);
  return *at;
}

const CLI::App& app_at(const CLI::App& app, const std::vector<std::string>& command) {
  const CLI::App* at = &app;
  for (const std::string& name : command) at = at->get_subcommand(name);
  return *at;
}

Status check_keys(const CLI::App& app, const ConfigFile& file) {
  for (const ConfigEntry& entry : file.entries) {
    const CLI::App* at = &app;
    for (std::size_t i = 0; at != nullptr && i + 1 < entry.path.size(); ++i)
      at = command_of(*at, entry.path[i]);
    if (at == nullptr) continue;  // the table itself is an entry, before this one
    const std::string fault = fault_of_entry(*at, entry);
    if (!fault.empty()) return Error{ErrorCode::kBadInput, file.place(entry.line), fault};
  }
  return Done{};
}

}  // namespace firn
