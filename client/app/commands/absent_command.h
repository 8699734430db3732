// A command whose part this build was made without (meson_options.txt): it is listed, and says so.
#pragma once

#include <string>

#include "client/app/commands/commands.h"

namespace firn::app {

// `part`: the build's option. The command takes any words, and ends with kUsage.
void add_absent_command(CLI::App& app, Chosen& chosen, const std::string& name,
                        const std::string& part);

// What it says.
std::string absent_words(const std::string& what, const std::string& part);

}  // namespace firn::app
