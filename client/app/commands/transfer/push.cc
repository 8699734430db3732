// firn push PATH HOST[:DIR]...: ships a file or folder to machines over ssh.
#include <algorithm>

#include "client/app/commands/commands.h"
#include "client/app/commands/options/download_options.h"
#include "client/app/commands/options/making_options.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/commands/transfer/share.h"
#include "client/app/commands/transfer/stop_request.h"
#include "client/app/console/quantities.h"
#include "client/app/push/install_archive.h"
#include "client/app/push/pushing.h"
#include "client/app/push/remote_start.h"
#include "client/app/push/retry_file.h"
#include "client/app/version.h"
#include "client/core/mesh/neighbour_count.h"
#include "proto/program/input_file.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct PushArguments {
  std::string path;
  std::vector<std::string> hosts;
  std::vector<std::string> host_sets;
  std::string dir;
  std::string ssh = "ssh";
  std::string user;
  std::string jump;
  std::uint32_t parallel = 32;
  std::string timeout;
  std::string as;
  bool overwrite = false;
  bool repair = false;
  bool install = false;
  std::string archive;  // that is installed; empty: one of this program
  std::string retry_file;
  MakingOptions making;
  SigningOptions signing;
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
  ConsoleOptions console;
};

// What of this is the peer's alone: the table takes the place of its progress.
ConsoleOptions peer_console(ConsoleOptions options) {
  if (options.verbosity > 0) return options;
  options.json = false;
  options.quiet = true;
  options.log_file.clear();
  return options;
}

ShareArguments sharing_of(const PushArguments& arguments) {
  ShareArguments share;
  share.paths = {arguments.path};
  share.making = arguments.making;
  share.making.is_private = share.making.fresh_secret = true;
  share.signing = arguments.signing;
  share.codec = arguments.codec;
  share.network = arguments.network;
  share.if_stopped = "nothing was pushed";
  return share;
}

Result<PushSetup> setup_of(const PushArguments& arguments, Console& console) {
  PushSetup setup;
  auto hosts = parse_hosts(arguments.hosts, arguments.host_sets, arguments.dir);
  if (!hosts.ok()) return hosts.error();
  for (const std::string& notice : hosts->notices) console.warning(notice);
  setup.hosts = std::move(hosts->hosts);
  auto words = split_words(arguments.ssh);
  if (!words.ok()) return words.error();
  setup.ssh.words = *std::move(words);
  setup.ssh.user = arguments.user;
  setup.ssh.jump = arguments.jump;
  setup.constant = remote_start();
  setup.logins_max = arguments.parallel;
  setup.plan.version = kVersion;
  PushOrder& order = setup.plan.order;
  order.as = arguments.as;
  order.overwrite = arguments.overwrite;
  order.repair = arguments.repair;
  if (arguments.timeout.empty()) return setup;
  const auto timeout = parse_duration(arguments.timeout);
  if (!timeout.ok()) return timeout.error();
  setup.plan.login_time = setup.plan.timeout = *timeout;
  order.timeout_s = static_cast<std::uint32_t>(
      std::clamp<core::TimeUs>(*timeout / core::kSecond, 1, 1'000'000'000));
  return setup;
}

// What hosts without firn get.
Result<PushProgram> program_of(const InstallArchive& archive) {
  auto bytes = read_input_file(archive.path(), archive.bytes());
  if (!bytes.ok()) return bytes.error();
  return PushProgram{
      archive.digest(), std::make_shared<const std::string>(*std::move(bytes)),
      [needs = archive.needs()](const std::string& machine, const std::string& glibc) {
        return needs.refusal(machine, glibc);
      }};
}

// More hosts than the core's policy wants of neighbours are all to be called.
void make_room_for(std::size_t hosts, core::Options& core) {
  constexpr std::size_t kWantedMax = 200;  // the others find peers through these
  if (core.neighbours_max == 0 && hosts > core::kSmallMesh)
    core.neighbours_wanted = static_cast<std::uint32_t>(std::min(hosts, kWantedMax));
}

ExitCode run(const PushArguments& arguments, Console& console) {
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  auto setup = setup_of(arguments, console);
  if (!setup.ok()) return fail(console, setup.error());
  const OutputFile retry(arguments.retry_file, kRetryFile);
  if (!arguments.retry_file.empty())
    if (const Status apart = check_output(retry, arguments.path); !apart.ok())
      return fail(console, apart.error());
  const ShareArguments share = sharing_of(arguments);
  auto options = driver_options(share.network, share.codec, 1);
  if (!options.ok()) return fail(console, options.error());
  options->only_serves = options->stays = true;
  if (arguments.install || !arguments.archive.empty()) {
    const auto archive = InstallArchive::make(arguments.archive);
    if (!archive.ok()) return fail(console, archive.error());
    auto program = program_of(*archive);
    if (!program.ok()) return fail(console, program.error());
    setup->plan.program = *std::move(program);
  }
  const auto signer = prepare_making(share, console);
  if (!signer.ok()) return fail(console, signer.error());
  const StopRequest stop;
  std::set<std::string> excludes_used;
  auto made = make_content(share, arguments.path, *signer, excludes_used, console);
  if (!made.ok()) return fail_or_stop(console, made.error(), share.if_stopped);
  warn_of_unused_excludes(share.making, excludes_used, console);
  console.clear_progress();
  const auto secret = made->secret;

  const auto peers = Console::open(peer_console(arguments.console));
  if (!peers.ok()) return fail(console, peers.error());
  ExitCode code = ExitCode::kOk;
  const auto driver = start_driver(*options, **peers, code);
  if (!driver) return code;
  auto plan = serving_plan(share, *std::move(made), *signer, driver->id());
  if (!plan.ok()) return fail(console, plan.error());
  make_room_for(setup->hosts.size(), plan->core);
  ContentSession& session = driver->add(*std::move(plan));
  setup->plan.order.link = link_of(share, *driver, *signer, session, secret);
  setup->stop_requested = StopRequest::poll();
  Pushing pushing(*driver, session, console, *setup);
  code = pushing.run();
  const std::vector<HostRow> rows = pushing.rows();
  if (!console.json()) console.print(closing_lines(rows));
  if (!arguments.retry_file.empty())
    if (const Status kept = retry.write(retry_file(rows)); !kept.ok())
      return fail(console, kept.error());
  return code;
}

void add_ssh_options(CLI::App& command, PushArguments& arguments) {
  const char* const group = "Ssh";
  command.add_option("--user", arguments.user, "log in as NAME where HOST does not say user@")
      ->option_text("NAME")
      ->check(not_empty())
      ->group(group);
  command.add_option("-J,--jump", arguments.jump, "log in through this host, as ssh -J")
      ->option_text("HOST")
      ->check(not_empty())
      ->group(group);
  command
      .add_option("--ssh", arguments.ssh,
                  "ssh with options of its own, such as 'ssh -p 2222 -i key'; its configuration, "
                  "agent and known hosts are used as they are")
      ->option_text("COMMAND")
      ->capture_default_str()
      ->check(not_empty())
      ->group(group);
  command.add_option("--parallel", arguments.parallel, "hosts that log in at a time, at most")
      ->option_text("N")
      ->check(between(1, 1000))
      ->capture_default_str()
      ->group(group);
}

}  // namespace

void add_push_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<PushArguments>();
  CLI::App* command = app.add_subcommand(
      "push", "ship a file or folder to many machines over ssh; they pass it on to each other");
  command->add_option("PATH", arguments->path, "file or folder")->required()->check(not_empty());
  command
      ->add_option("HOST", arguments->hosts,
                   "where ssh logs in, and the folder there; also node[1-100]")
      ->option_text("HOST[:DIR] ...");
  command
      ->add_option("--hosts", arguments->host_sets,
                   "more hosts: a file with one on each line, or node[1-100] (repeatable)")
      ->option_text("FILE|HOSTS")
      ->configurable(false)
      ->check(not_empty());
  command
      ->add_option("-o,--output", arguments->dir,
                   "folder on each host (default: where a login begins); HOST:DIR comes first")
      ->option_text("DIR")
      ->configurable(false)
      ->check(not_empty());
  add_as_option(*command, arguments->as, "name for the content there, instead of its own");
  add_replacing_options(*command, arguments->overwrite, arguments->repair);
  command
      ->add_option("-t,--timeout", arguments->timeout,
                   "a host that gets no further for this time has failed (90s, 5m); default: 30s "
                   "for the login, no limit for the download")
      ->option_text("DURATION")
      ->check(positive_duration);
  command->add_flag("--install", arguments->install,
                    "copy this firn to hosts that lack it, into ~/.cache/firn, and start it there");
  command
      ->add_option("--install-archive", arguments->archive,
                   "the same with an archive of scripts/package --portable")
      ->option_text("FILE")
      ->configurable(false)
      ->check(not_empty());
  command
      ->add_option("--retry-failed", arguments->retry_file,
                   "write the hosts that failed to FILE, for --hosts")
      ->option_text("FILE")
      ->configurable(false)
      ->check(not_empty());
  add_ssh_options(*command, *arguments);
  add_making_options(*command, arguments->making);
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_console_options(*command, arguments->console);
  command->callback([arguments, &chosen] {
    if (arguments->hosts.empty() && arguments->host_sets.empty())
      throw CLI::RequiredError("HOST or --hosts");
    chosen = run_of(arguments, run, {arguments->path});
  });
}

}  // namespace firn::app
