#include "client/app/commands/options/status_option.h"

#include "client/app/commands/transfer/running.h"
#include "proto/program/usage.h"

namespace firn::app {

void add_status_option(CLI::App& command, std::string& status) {
  command
      .add_option("--status", status,
                  "serve a page there that shows how it stands; its address is printed with the "
                  "token that it asks for: localhost:8080")
      ->option_text("HOST:PORT")
      ->check(not_empty());
}

StatusPage open_status(const std::string& status, PeerDriver& driver, Console& console,
                       ExitCode& code) {
  if (status.empty()) return {};
  auto server = open_page_server({status, "", ""}, driver, nullptr, console);
  if (server.ok()) return {*std::move(server)};
  code = fail(console, server.error());
  if (server.error().code == ErrorCode::kExists) code = ExitCode::kPortInUse;
  return {nullptr, true};
}

}  // namespace firn::app
