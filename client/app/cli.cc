#include "client/app/cli.h"

#include <CLI/CLI.hpp>

#include "client/app/commands/commands.h"
#include "client/app/exit_codes.h"
#include "client/app/version.h"

namespace firn::app {

int run_cli(int argc, const char* const* argv) {
  CLI::App app("Firn distributes files from peer to peer, with network coding.", "firn");
  app.set_version_flag("--version", std::string("firn ") + kVersion);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "ADDR is [ID@]HOST:PORT, IPv6 in brackets. SIZE and RATE take K, M, G (powers of 1024).\n"
      "`firn COMMAND --help` shows the options of a command.\n\n" +
      exit_code_help());
  Chosen chosen;
  add_create_command(app, chosen);
  add_share_command(app, chosen);
  add_get_command(app, chosen);
  add_seed_command(app, chosen);
  add_info_command(app, chosen);
  add_verify_command(app, chosen);
  add_doctor_command(app, chosen);
  add_bench_command(app, chosen);
  for (CLI::App* command : app.get_subcommands({})) command->footer(exit_code_help());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  }
  return static_cast<int>(chosen());
}

}  // namespace firn::app
