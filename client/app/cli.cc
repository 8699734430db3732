#include "client/app/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <sstream>

#include "client/app/commands/commands.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/console/exit_codes.h"
#include "client/app/version.h"
#include "proto/base/commit.h"
#include "proto/base/plain_text.h"
#include "proto/base/within_memory.h"
#include "proto/program/configuration.h"
#include "proto/program/usage.h"

namespace firn::app {

const ConfigNames kConfigNames = {"config.toml", "FIRN_CONFIG"};

void add_commands(CLI::App& app, const Configuration& configuration, const DeclareDaemon& daemon,
                  Chosen& chosen) {
  add_create_command(app, chosen);
  add_share_command(app, chosen);
  add_get_command(app, chosen);
  add_seed_command(app, chosen);
  add_push_command(app, chosen);
  add_receive_command(app, chosen);
  add_play_command(app, chosen);
  daemon(app, chosen);
  add_content_commands(app, chosen);
  add_files_command(app, chosen);
  add_limit_commands(app, chosen);
  add_peers_command(app, chosen);
  add_page_command(app, chosen);
  add_watch_command(app, chosen);
  add_info_command(app, chosen);
  add_verify_command(app, chosen);
  add_keygen_command(app, chosen);
  add_certify_command(app, chosen);
  add_doctor_command(app, chosen);
  add_bench_command(app, chosen);
  add_medium_command(app, chosen);
  add_config_command(app, configuration, chosen);
  add_help_command(app);
  add_config_options(app, kConfigNames);
  for (CLI::App* command : app.get_subcommands({})) command->footer(exit_code_help());
}

namespace {

Result<std::vector<Setting>> read_again(int argc, const char* const* argv,
                                        const DeclareDaemon& daemon) {
  CLI::App app("", "firn");
  Chosen never_run;
  Configuration configuration;
  add_commands(app, configuration, daemon, never_run);
  const CommandWords words(app, argc, argv);
  const auto settings = read_settings(app, words, kConfigNames, configuration);
  if (!settings.ok()) return settings.error();
  try {
    parse_words(app, words, *settings);
  } catch (const CLI::ParseError& error) {
    return Error{ErrorCode::kBadInput, "read the options again", escaped(error.what())};
  }
  return configuration.settings(app, {"daemon"});
}

}  // namespace

int run_cli(int argc, const char* const* argv) {
  CLI::App app("Firn distributes files from peer to peer, with network coding.", "firn");
  app.set_version_flag("--version", "firn " + version_text(kVersion));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "ADDR is [ID@]HOST[:PORT], IPv6 in brackets; without a port it is 4711. SIZE and RATE take\n"
      "K, M, G or T (powers of 1024), with a fraction or without: 1.5M; a RATE may be in bits:\n"
      "10Mbit.\n"
      "`firn help COMMAND` shows the options of a command.\n\n" +
      exit_code_help());
  Chosen chosen;
  Configuration configuration;
  const auto again = [argc, argv](const DeclareDaemon& daemon) {
    return read_again(argc, argv, daemon);
  };
  const auto daemon = [&again](CLI::App& to, Chosen& run) { add_daemon_command(to, run, again); };
  add_commands(app, configuration, daemon, chosen);
  const CommandWords words(app, argc, argv);
  const auto settings = read_settings(app, words, kConfigNames, configuration);
  if (!settings.ok()) {
    std::fprintf(stderr, "firn: %s\n--no-config goes on without configuration files\n",
                 escaped_lines(settings.error().message()).c_str());
    return static_cast<int>(exit_code_of(settings.error()));
  }
  for (const ConfigSource& source : configuration.sources())
    if (!source.trouble.empty())
      std::fprintf(stderr, "firn: warning: %s; going on without it\n",
                   escaped_lines(source.trouble).c_str());
  try {
    parse_words(app, words, *settings);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      std::fprintf(stderr, "%s\n", usage_error(words, error).c_str());
      return static_cast<int>(ExitCode::kUsage);
    }
    std::ostringstream asked;  // --help or --version
    app.exit(error, asked);
    return static_cast<int>(print_alone(asked.str()));
  }
  const auto run = [&chosen]() -> Result<ExitCode> { return chosen(); };
  const auto code = within_memory("run this command", run);
  if (code.ok()) return static_cast<int>(*code);
  std::fprintf(stderr, "firn: %s\n", code.error().message().c_str());
  return static_cast<int>(exit_code_of(code.error()));
}

}  // namespace firn::app
