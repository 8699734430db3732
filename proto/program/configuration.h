// The configuration of a program: values for options that its command line does not give.
//
// A program reads the system's file and the user's; `--config FILE`, else a variable of the
// environment, names one that replaces both, and `--no-config`, or an empty variable, none. A
// setting of the user's file goes before one of the system's, and in a file that of the deeper
// table. Settings become words of the command line, so that the option's own checks hold for them.
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

  // The words of a command line with the settings for its command. An option that the line gives
  // has no setting; nor has one that excludes such an option or needs one that is not given.
  // Errors: kBadInput (an option does not take its value, two settings exclude one another), with
  // place.
  Result<std::vector<std::string>> complete(CLI::App& app, const CommandWords& words, int argc,
                                            const char* const* argv) const;

 private:
  std::vector<ConfigSource> sources_;
  std::vector<ConfigFile> files_;
};

// Reads the configuration and completes the words of a command line, argv, with it. A line that is
// wrong, or asks for a help, stays as it is, and nothing is read. Errors: as above.
Result<std::vector<std::string>> configured_line(CLI::App& app, int argc, const char* const* argv,
                                                 const ConfigNames& names,
                                                 Configuration& configuration);
// CLI11's parse() of such words.
void parse_line(CLI::App& app, const std::vector<std::string>& line);

// Whether the option takes the values of its setting. Leaves them in what the option is bound to,
// as CLI11 checks some of it on the way there. Errors: kBadInput, with the place.
Status check_value(CLI::Option& option, const Setting& setting);

}  // namespace firn
