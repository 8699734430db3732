// The command line of `firn`.
#pragma once

namespace firn::app {

// Parses, runs the command, returns the exit code.
int run_cli(int argc, const char* const* argv);

}  // namespace firn::app
