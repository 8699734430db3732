// Every option and argument of every command of both programs, as CLI11 lists them.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "client/app/commands/commands.h"
#include "proto/program/config_keys.h"
#include "proto/program/configuration.h"
#include "tracker/app/settings.h"

namespace firn {
namespace {

using Words = std::vector<std::string>;

// Calls `check` with each command of both programs, and the words that name it; but not with help,
// which is no command of its own (`firn help get` is `firn get --help`).
void for_every_command(
    const std::function<void(CLI::App& program, CLI::App& command, const Words& names)>& check) {
  CLI::App client("", "firn");
  Configuration configuration;
  app::Chosen chosen;
  app::add_commands(
      client, configuration,
      [](CLI::App& to, app::Chosen& run) { app::add_daemon_command(to, run, {}); }, chosen);
  tracker::CommandLine tracker;
  for (CLI::App* program : {&client, &tracker.app})
    for (const Words& names : whole_commands(*program))
      if (names != Words{"help"}) check(*program, app_at(*program, names), names);
}

// Options alone, or arguments alone, that take values.
std::vector<CLI::Option*> takers(CLI::App& command, bool arguments) {
  return command.get_options([arguments](const CLI::Option* option) {
    return option->get_positional() == arguments && !is_switch(*option);
  });
}

std::string name_of(const CLI::Option& option) {
  return key_of(option).empty() ? "-" + option.get_snames().front() : "--" + key_of(option);
}

// Reads the line. What the options' checks say of these values is not asked.
void read(CLI::App& program, const Words& line, const std::vector<Setting>& settings) {
  std::vector<const char*> argv = {"program"};
  for (const std::string& word : line) argv.push_back(word.c_str());
  const CommandWords words(program, static_cast<int>(argv.size()), argv.data());
  CHECK(words.wrong() == "");
  program.clear();
  try {
    parse_words(program, words, settings);
  } catch (const CLI::ParseError&) {
  }
}

// A line with values for all arguments of the command behind these words: all get what they have
// without those.
void check_arguments(CLI::App& program, CLI::App& command, Words line,
                     const std::vector<Setting>& settings = {}) {
  std::vector<Words> given;
  for (const CLI::Option* argument : takers(command, true)) {
    given.push_back({"[a,b]"});
    if (is_repeatable(*argument)) given.back().push_back("[c]");
    line.insert(line.end(), given.back().begin(), given.back().end());
  }
  read(program, line, settings);
  std::size_t i = 0;
  for (const CLI::Option* argument : takers(command, true))
    CHECK(argument->results() == given[i++]);
}

// What a file might say of the command's options, one of them.
std::vector<Setting> settings_but_for(CLI::App& command, const CLI::Option* one) {
  std::vector<Setting> settings;
  for (const CLI::Option* option : takers(command, false))
    if (option != one && option->get_configurable() && !key_of(*option).empty())
      settings.push_back({key_of(*option), {"[x,y]"}, "", 0});
  return settings;
}

TEST_CASE("no option takes an argument behind its value, and no value is taken apart") {
  int options = 0;
  for_every_command([&](CLI::App& program, CLI::App& command, const Words& names) {
    check_arguments(program, command, names);
    for (CLI::Option* option : takers(command, false)) {
      const std::string name = name_of(*option);
      CAPTURE(command.get_name());
      CAPTURE(name);
      ++options;
      for (const std::string value : {"[a,b]", "[::1]", "a,b", "{}"}) {
        Words line = names;
        Words given = {value};
        line.insert(line.end(), {name, value});
        if (is_repeatable(*option)) {
          given.push_back("-c");
          line.insert(line.end(), {name, "-c"});
        }
        check_arguments(program, command, line);
        CHECK(option->results() == given);
      }
    }
  });
  CHECK(options > 200);
}

TEST_CASE("what a configuration says changes nothing in how a line is read") {
  for_every_command([&](CLI::App& program, CLI::App& command, const Words& names) {
    CAPTURE(command.get_name());
    const std::vector<Setting> settings = settings_but_for(command, nullptr);
    check_arguments(program, command, names, settings);
    for (const Setting& setting : settings) {
      const CLI::Option* const option = command.get_option("--" + setting.key);
      CAPTURE(setting.key);
      CHECK(option->results() == setting.values);
      Words line = names;
      line.insert(line.end(), {"--" + setting.key, "v"});
      check_arguments(program, command, line, settings_but_for(command, option));
      CHECK(option->results() == Words{"v"});
    }
  });
}

}  // namespace
}  // namespace firn
