// Options of commands that put a content into a folder, or look for it there.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "client/content/file_choice.h"

namespace firn::app {

// --as: another name for a content's file or folder than the manifest's. `use`: what it is for.
CLI::Option* add_as_option(CLI::App& command, std::string& as, const std::string& use);

// --overwrite and --repair
void add_replacing_options(CLI::App& command, bool& overwrite, bool& repair);

// --file, --skip and --select-file, in the order of the command line. `choice` must outlive the
// parsing of it.
void add_choice_options(CLI::App& command, content::FileChoice& choice);

}  // namespace firn::app
