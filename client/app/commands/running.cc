#include "client/app/commands/running.h"

#include <cstdio>

namespace firn::app {

ExitCode with_console(const ConsoleOptions& options,
                      const std::function<ExitCode(Console&)>& body) {
  auto console = Console::open(options);
  if (!console.ok()) {
    std::fprintf(stderr, "firn: %s\n", console.error().message().c_str());
    return exit_code_of(console.error());
  }
  return body(**console);
}

ExitCode fail(Console& console, const Error& error) {
  console.error(error);
  return exit_code_of(error);
}

std::unique_ptr<PeerDriver> start_driver(const DriverOptions& options, Console& console,
                                         ExitCode& code) {
  auto driver = PeerDriver::start(options, console);
  if (driver.ok()) return *std::move(driver);
  code = fail(console, driver.error());
  if (driver.error().code == ErrorCode::kExists) code = ExitCode::kPortInUse;
  return nullptr;
}

}  // namespace firn::app
