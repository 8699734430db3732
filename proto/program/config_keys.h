// What the keys of a configuration file name: options of a program and of its commands.
//
// An option that is not CLI11's `configurable` belongs to a single run, and may not stand in a
// file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "proto/program/config_file.h"

namespace firn {

// The option's long name without dashes, as keys write it; empty: it has none.
std::string key_of(const CLI::Option& option);
// Whether the option is one without a value.
bool is_switch(const CLI::Option& option);
// Whether a command line may repeat the option, and a file so give a list.
bool is_repeatable(const CLI::Option& option);

// Whether the entry may stand in a file, and is of a kind that the option takes.
bool fits(const CLI::Option& option, const ConfigEntry& entry);

// The commands of `app` that have no others below, or the program itself, each as its names.
std::vector<std::vector<std::string>> whole_commands(const CLI::App& app);
// The command of these names. They must be names of commands.
CLI::App& app_at(CLI::App& app, const std::vector<std::string>& command);
const CLI::App& app_at(const CLI::App& app, const std::vector<std::string>& command);

// Every key is a command or one of its options, and every value of the kind the option takes.
// Errors: kBadInput, with the place, of the first that is not; and the nearest key.
Status check_keys(const CLI::App& app, const ConfigFile& file);

}  // namespace firn
