// The commands of `firn`. Each add_... declares one with its options; if it is the one on the
// command line, `chosen` becomes what to run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

#include "client/app/console/exit_codes.h"
#include "proto/base/result.h"
#include "proto/program/configuration.h"

namespace firn::app {

using Chosen = std::function<ExitCode()>;

// Declares `firn daemon`.
using DeclareDaemon = std::function<void(CLI::App& app, Chosen& chosen)>;
// Reads the process's command line and its configuration once more, for a daemon command that is
// declared so, and runs nothing; what the configuration says of it. Errors: kBadInput and others as
// read_settings()'s.
using ReadAgain = std::function<Result<std::vector<Setting>>(const DeclareDaemon& declare)>;

void add_create_command(CLI::App& app, Chosen& chosen);
void add_share_command(CLI::App& app, Chosen& chosen);
void add_get_command(CLI::App& app, Chosen& chosen);
void add_seed_command(CLI::App& app, Chosen& chosen);
void add_push_command(CLI::App& app, Chosen& chosen);
void add_receive_command(CLI::App& app, Chosen& chosen);
void add_play_command(CLI::App& app, Chosen& chosen);
void add_daemon_command(CLI::App& app, Chosen& chosen, const ReadAgain& read_again);
// add, list, show, pause, resume, remove
void add_content_commands(CLI::App& app, Chosen& chosen);
void add_files_command(CLI::App& app, Chosen& chosen);
// limit, priority, queue
void add_limit_commands(CLI::App& app, Chosen& chosen);
void add_peers_command(CLI::App& app, Chosen& chosen);
void add_page_command(CLI::App& app, Chosen& chosen);
void add_watch_command(CLI::App& app, Chosen& chosen);
void add_info_command(CLI::App& app, Chosen& chosen);
void add_verify_command(CLI::App& app, Chosen& chosen);
void add_keygen_command(CLI::App& app, Chosen& chosen);
void add_certify_command(CLI::App& app, Chosen& chosen);
void add_doctor_command(CLI::App& app, Chosen& chosen);
void add_bench_command(CLI::App& app, Chosen& chosen);
void add_medium_command(CLI::App& app, Chosen& chosen);
// For the list of commands: CommandWords reads `help get` as `get --help`.
void add_help_command(CLI::App& app);
// `configuration` is looked at when the command runs.
void add_config_command(CLI::App& app, const Configuration& configuration, Chosen& chosen);

// All of these, with the options that name configuration files.
void add_commands(CLI::App& app, const Configuration& configuration, const DeclareDaemon& daemon,
                  Chosen& chosen);

}  // namespace firn::app
