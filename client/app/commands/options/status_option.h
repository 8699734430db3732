// --status: the page of a command that has a driver.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "client/app/page/page_server.h"

namespace firn::app {

void add_status_option(CLI::App& command, std::string& status);

struct StatusPage {
  std::unique_ptr<PageServer> server;  // null: none was asked for
  bool failed = false;
};
// What fails has been said, and its exit code put into `code`. `driver` outlives the result.
StatusPage open_status(const std::string& status, PeerDriver& driver, Console& console,
                       ExitCode& code);

}  // namespace firn::app
