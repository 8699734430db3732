// How every command starts and fails.
#pragma once

#include <functional>

#include "client/app/console.h"
#include "client/app/exit_codes.h"
#include "client/app/peer_driver.h"

namespace firn::app {

// Opens the console and runs `body` with it.
ExitCode with_console(const ConsoleOptions& options, const std::function<ExitCode(Console&)>& body);

// Says the error; its exit code.
ExitCode fail(Console& console, const Error& error);

// As PeerDriver::start; a failure has been said, and its exit code put into `code`.
std::unique_ptr<PeerDriver> start_driver(const DriverOptions& options, Console& console,
                                         ExitCode& code);

}  // namespace firn::app
