#include "client/app/commands/options/status_option.h"

#include "client/app/commands/transfer/running.h"
#include "proto/program/usage.h"

namespace firn::app {

void add_status_options(CLI::App& command, StatusOptions& options) {
  command
      .add_option("--status", options.page,
                  "serve a page there that shows how it stands; its address is printed with the "
                  "token that it asks for: localhost:8080")
      ->option_text("HOST:PORT")
      ->check(not_empty());
  add_metrics_option(command, options.metrics);
}

void add_metrics_option(CLI::App& command, std::string& metrics) {
  command
      .add_option("--metrics", metrics,
                  "serve figures for Prometheus there, at /metrics, to all who can reach it: "
                  "localhost:9711")
      ->option_text("HOST:PORT")
      ->check(not_empty());
}

StatusDoors open_status(const StatusOptions& options, PeerDriver& driver, Console& console,
                        ExitCode& code) {
  StatusDoors doors;
  const auto failed = [&](const Error& error) {
    code = fail(console, error);
    if (error.code == ErrorCode::kExists) code = ExitCode::kPortInUse;
    return StatusDoors{nullptr, nullptr, true};
  };
  if (!options.page.empty()) {
    auto page = open_page_server({options.page, "", ""}, driver, nullptr, console);
    if (!page.ok()) return failed(page.error());
    doors.page = *std::move(page);
  }
  if (!options.metrics.empty()) {
    auto metrics = open_metrics_server(options.metrics, driver, nullptr, console);
    if (!metrics.ok()) return failed(metrics.error());
    doors.metrics = *std::move(metrics);
  }
  return doors;
}

}  // namespace firn::app
