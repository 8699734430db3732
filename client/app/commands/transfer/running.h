// How every command starts, shows how far it is, and fails.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "client/app/commands/commands.h"
#include "client/app/console/console.h"
#include "client/app/console/exit_codes.h"
#include "client/app/driver/peer_driver.h"
#include "proto/program/output_file.h"

namespace firn::app {

// Opens the console and runs `body` with it. The log must not stand in `sources`, files and folders
// that are read to be shared.
ExitCode with_console(const ConsoleOptions& options, const std::function<ExitCode(Console&)>& body,
                      const std::vector<std::string>& sources = {});

// A command's work. Of several functions of one name the arguments say which it is.
template <typename Arguments>
using Run = ExitCode (*)(const std::type_identity_t<Arguments>&, Console&);

// What `chosen` becomes: `run` with the arguments and their console. `sources`: as above.
template <typename Arguments>
Chosen run_of(std::shared_ptr<Arguments> arguments, Run<Arguments> run,
              const std::vector<std::string>& sources = {}) {
  return [arguments, run, sources] {
    const auto body = [&](Console& console) {
      if constexpr (requires { arguments->network; })
        for (const std::string& option : arguments->network.lifted)
          console.warning(option + " 0 sets no limit; to send nothing, use get --no-upload");
      return run(*arguments, console);
    };
    return with_console(arguments->console, body, sources);
  };
}

// Chooses that if the command is the one on the command line.
template <typename Arguments>
void on_command(CLI::App& command, std::shared_ptr<Arguments> arguments, Chosen& chosen,
                Run<Arguments> run) {
  command.callback([arguments, &chosen, run] { chosen = run_of(arguments, run); });
}

// Whether `output` may be written, and is not in `source`. Errors: as OutputFile's.
Status check_output(const OutputFile& output, const std::string& source);

// Prints text on stdout where there is no console: help, version. kDisk if that fails, which is
// said.
ExitCode print_alone(const std::string& text);

// Shows how far a task is, at most ten times a second: what it is, done, in all. Empty where no
// progress is shown. Any thread: one waits for another. `console` must outlive it.
using ShowProgress = std::function<void(const char* what, std::uint64_t, std::uint64_t)>;
ShowProgress show_progress(Console& console);
// The same for one task.
std::function<void(std::uint64_t, std::uint64_t)> show_progress(Console& console,
                                                                const std::string& what);

// Says the error; its exit code.
ExitCode fail(Console& console, const Error& error);

// As PeerDriver::start; a failure has been said, and its exit code put into `code`.
std::unique_ptr<PeerDriver> start_driver(const DriverOptions& options, Console& console,
                                         ExitCode& code);

}  // namespace firn::app
