// --status and --metrics: what a command that has a driver serves over HTTP.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "client/app/page/page_server.h"

namespace firn::app {

struct StatusOptions {
  std::string page, metrics;  // HOST:PORT; empty: none
};

void add_status_options(CLI::App& command, StatusOptions& options);
// Of a daemon, whose page has options of its own.
void add_metrics_option(CLI::App& command, std::string& metrics);

struct StatusDoors {
  std::unique_ptr<PageServer> page;        // null: none was asked for
  std::unique_ptr<MetricsServer> metrics;  // likewise
  bool failed = false;
};
// What fails has been said, and its exit code put into `code`. `driver` outlives the result.
StatusDoors open_status(const StatusOptions& options, PeerDriver& driver, Console& console,
                        ExitCode& code);

}  // namespace firn::app
