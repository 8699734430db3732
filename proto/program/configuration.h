// The configuration of a program: values for options that its command line does not give.
//
// A program reads the system's file and the user's; `--config FILE`, else a variable of the
// environment, names one that replaces both, and `--no-config`, or an empty variable, none. A
// setting of the user's file goes before one of the system's, and in a file that of the deeper
// table. Options get settings as they get values of the command line, with the same checks; how the
// words of the line are read does not depend on them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/base/result.h"
#include "proto/program/command_words.h"
#include "proto/program/config_file.h"

namespace firn {

// How a program's files are found.
struct ConfigNames {
  std::string file;      // "config.toml", in /etc/firn and in the user's folder firn
  std::string variable;  // "FIRN_CONFIG"
};

// A file that was looked for.
struct ConfigSource {
  std::string path;
  bool required = false;  // the user named it
  bool found = false;
  bool may_be_closed = false;  // without the right to read it, the program goes on
  std::string trouble = {};    // why it was passed over, for people; empty: it was not
};

// What a file says of an option.
struct Setting {
  std::string key;
  std::vector<std::string> values;  // of a switch "true" or "false"
  std::string place;                // file and line, for people
  std::size_t rank = 0;             // the higher goes before the lower
};

// Adds --config and --no-config to the program and to its commands; after these have been added.
void add_config_options(CLI::App& app, const ConfigNames& names);

// Where to look, the system's file first.
std::vector<ConfigSource> config_sources(const CommandWords& words, const ConfigNames& names);

class Configuration {
 public:
  Configuration() = default;  // of no file
  // Reads the files and checks their keys. Files that nobody named may be missing, and the user's
  // unreadable, as for git: the program may run for another account than its HOME's. Errors: as
  // read_config_file and check_keys.
  static Result<Configuration> load(const CLI::App& app, std::vector<ConfigSource> sources);

  const std::vector<ConfigSource>& sources() const { return sources_; }

  // The settings for a whole command.
  std::vector<Setting> settings(const CLI::App& app, const std::vector<std::string>& command) const;

  // Those that a command line takes. An option that the line gives takes none; nor does one that
  // excludes such an option or needs one that is not given. Errors: kBadInput (an option does not
  // take its value, two settings exclude one another), with place.
  Result<std::vector<Setting>> settings_for(CLI::App& app, const CommandWords& words) const;

 private:
  std::vector<ConfigSource> sources_;
  std::vector<ConfigFile> files_;
};

// Reads the configuration, and says what a command line takes from it. For a line that is wrong, or
// asks for a help, nothing is read. Errors: as above.
Result<std::vector<Setting>> read_settings(CLI::App& app, const CommandWords& words,
                                           const ConfigNames& names, Configuration& configuration);

// Gives the options of `app` their values, has CLI11 check them all, and runs the callbacks of the
// command. An option that is to `trigger_on_parse` is called for each of its values in the order of
// the line, with all of them. Throws CLI::ParseError: also for words that are wrong.
void parse_words(CLI::App& app, const CommandWords& words, const std::vector<Setting>& settings);

// Whether the option takes the values of its setting. Leaves them in what the option is bound to,
// as CLI11 checks some of it on the way there. Errors: kBadInput, with the place.
Status check_value(CLI::Option& option, const Setting& setting);

}  // namespace firn
