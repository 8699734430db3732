// firn config [COMMAND]: the values that options have without a command line that gives others, and
// where they come from.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "client/app/commands/commands.h"
#include "client/app/commands/transfer/running.h"
#include "proto/base/plain_text.h"
#include "proto/content/content_secret.h"
#include "proto/program/config_keys.h"
#include "proto/program/configuration.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

// What an option has, and where from; the commands for which it is so.
struct OptionValue {
  std::string key;
  std::string value;
  std::string place;

  auto operator<=>(const OptionValue&) const = default;
};
using OptionValues = std::map<OptionValue, std::vector<std::string>>;

std::string joined(const std::vector<std::string>& words, const char* separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

// A header may be a password.
std::string shown_value(const Setting& setting) {
  std::vector<std::string> values = setting.values;
  if (setting.key == "header")
    for (std::string& value : values) value = value.substr(0, value.find(':')) + ": ...";
  return without_secrets(joined(values, ", "));
}

// Of one command. Every value that a file gives is checked, as for a run.
Status add_values(CLI::App& app, const std::vector<std::string>& command,
                  const Configuration& configuration, OptionValues& values) {
  CLI::App& at = app_at(app, command);
  const std::string name = joined(command, " ");
  std::map<std::string, OptionValue> of_command;
  for (const CLI::Option* option : at.get_options())
    if (option->get_configurable() && !key_of(*option).empty() &&
        !option->get_default_str().empty())
      of_command[key_of(*option)] = {key_of(*option), option->get_default_str(), "default"};
  for (const Setting& setting : configuration.settings(app, command)) {
    const Status taken = check_value(*at.get_option_no_throw("--" + setting.key), setting);
    if (!taken.ok()) return taken;
    of_command[setting.key] = {setting.key, shown_value(setting), setting.place};
  }
  for (const auto& [key, value] : of_command) values[value].push_back(name);
  return Done{};
}

std::string sources_text(const Configuration& configuration) {
  if (configuration.sources().empty()) return "no configuration is read\n";
  std::string text;
  for (const ConfigSource& source : configuration.sources())
    text += escaped(source.path) + (source.found             ? ": read\n"
                                    : source.trouble.empty() ? ": not there\n"
                                                             : ": may not be read\n");
  return text;
}

std::string table_of(const OptionValues& values) {
  std::vector<std::tuple<std::string, std::string, std::string, std::string>> rows = {
      {"option", "value", "from", "for"}};
  for (const auto& [value, commands] : values)
    rows.emplace_back(value.key, escaped(value.value), value.place, joined(commands, ", "));
  std::size_t keys = 0, texts = 0, places = 0;
  for (const auto& [key, text, place, commands] : rows) {
    keys = std::max(keys, key.size());
    texts = std::max(texts, text.size());
    places = std::max(places, place.size());
  }
  std::string table;
  for (const auto& [key, text, place, commands] : rows)
    table += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", key, keys, text, texts, place, places,
                         commands);
  return table;
}

// One object, for programs.
std::string json_of(const Configuration& configuration, const OptionValues& values) {
  nlohmann::ordered_json json = {{"event", "config"}};
  json["files"] = nlohmann::ordered_json::array();
  for (const ConfigSource& source : configuration.sources())
    json["files"].push_back({{"path", source.path}, {"read", source.found}});
  json["options"] = nlohmann::ordered_json::array();
  for (const auto& [value, commands] : values)
    json["options"].push_back({{"option", value.key},
                               {"value", value.value},
                               {"from", value.place},
                               {"commands", commands}});
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

ExitCode show(CLI::App& app, const std::vector<std::string>& about, bool as_json,
              const Configuration& configuration) {
  OptionValues values;
  for (const auto& command : whole_commands(app)) {
    if (command.front() == "config" || command.front() == "help") continue;
    if (command.size() < about.size() || !std::equal(about.begin(), about.end(), command.begin()))
      continue;
    const Status added = add_values(app, command, configuration, values);
    if (added.ok()) continue;
    std::fprintf(stderr, "firn: %s\n", escaped_lines(added.error().message()).c_str());
    return exit_code_of(added.error());
  }
  if (as_json) return print_alone(json_of(configuration, values));
  return print_alone(sources_text(configuration) + "\n" + table_of(values));
}

}  // namespace

void add_config_command(CLI::App& app, const Configuration& configuration, Chosen& chosen) {
  auto about = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "config", "show the values of options, from files or defaults, and where they come from");
  command->add_option("COMMAND", *about, "such as get, or bench codec; default: all commands")
      ->option_text("...");
  command
      ->add_flag_callback(
          "--show", [] {}, "show the values, as without this option")
      ->configurable(false);
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "the same as one JSON object");
  command->callback([about, as_json, &app, &configuration, &chosen] {
    const CLI::App* at = &app;
    for (const std::string& word : *about) {
      const CLI::App* const found = command_of(*at, word);
      if (found == nullptr) throw CLI::ValidationError(unknown_command(*at, word));
      at = found;
    }
    chosen = [about, as_json, &app, &configuration] {
      return show(app, *about, *as_json, configuration);
    };
  });
}

}  // namespace firn::app
