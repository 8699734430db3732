// Options of commands that put a content into a folder, or look for it there.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace firn::app {

// --as: another name for a content's file or folder than the manifest's. `use`: what it is for.
CLI::Option* add_as_option(CLI::App& command, std::string& as, const std::string& use);

// --overwrite and --repair
void add_replacing_options(CLI::App& command, bool& overwrite, bool& repair);

}  // namespace firn::app
