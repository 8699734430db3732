// firn daemon: one process that holds all contents, and takes commands on a Unix socket.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/app/commands/asking.h"
#include "client/app/commands/commands.h"
#include "client/app/commands/daemon/daemon_page.h"
#include "client/app/commands/daemon/daemon_plans.h"
#include "client/app/commands/daemon/daemon_reload.h"
#include "client/app/commands/daemon/daemon_streams.h"
#include "client/app/commands/options/limit_options.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/options/origin_options.h"
#include "client/app/commands/options/own_addresses.h"
#include "client/app/commands/options/publishing_options.h"
#include "client/app/commands/options/status_option.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/commands/transfer/stop_request.h"
#include "client/app/console/quantities.h"
#include "client/app/daemon/content_list.h"
#include "client/app/daemon/control_socket.h"
#include "client/app/daemon/data_folder.h"
#include "client/store/open_files.h"
#include "proto/program/service_notice.h"
#include "proto/program/usage.h"
#include "proto/program/user_folders.h"
#include "proto/transport/descriptors.h"

namespace firn::app {
namespace {

// How many contents --memory is shared out for. More may be active: those that wait or serve use
// little of their share.
constexpr std::size_t kMemoryShares = 5;
constexpr std::size_t kDownloadsAtOnce = 8;  // unless the command says otherwise

struct DaemonArguments {
  std::string socket;
  std::string data;
  SigningOptions signing;
  PageOptions page;
  std::string metrics;
  std::string streams;
  LimitTexts goals;  // of seeding
  std::vector<std::string> schedule;
  QueueLimits queue{kDownloadsAtOnce, 0};
  std::string queue_patience = "5m";
  HookCommands hooks;
  std::vector<std::string> watched;
  std::string downloads;
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
  OriginOptions origins;
  ConsoleOptions console;
  ReadAgain read_again;  // of the process
};

void add_daemon_options(CLI::App& app, Chosen& chosen,
                        const std::shared_ptr<DaemonArguments>& arguments);

void say_start(const PeerDriver& driver, const std::string& socket, const std::string& data,
               std::size_t contents, Console& console) {
  console.event({{"event", "daemon"},
                 {"socket", socket},
                 {"data", data},
                 {"listen", to_text(driver.listening())},
                 {"contents", contents}});
  console.info(std::to_string(contents) + (contents == 1 ? " content" : " contents") +
               ", peers at " + to_text(driver.listening()) + ", commands at " + socket);
}

ExitCode fail_to_serve(Console& console, const Error& error) {
  const ExitCode failed = fail(console, error);
  return error.code == ErrorCode::kExists ? ExitCode::kPortInUse : failed;
}

// Where peers knew it in its last run, unless the options say otherwise: links lead to it again.
// Null after a failure, which has been said.
std::unique_ptr<PeerDriver> start_where_it_was(DriverOptions options, const DataFolder& folder,
                                               Console& console, ExitCode& code) {
  if (options.identity_file.empty()) options.identity_file = folder.identity_file();
  bool keeps_port = options.listen.port == 0;
  if (const std::uint16_t port = folder.port(DataFolder::kPeersPort); keeps_port && port != 0) {
    options.listen.port = port;
    auto driver = PeerDriver::start(options, console);
    if (driver.ok()) return *std::move(driver);
    if (driver.error().code == ErrorCode::kExists) {
      console.warning("port " + std::to_string(port) +
                      ", which links of an earlier run name, is in use; taking another: those "
                      "links lead nowhere until the next start, which tries that port again");
      keeps_port = false;
    }
    options.listen.port = 0;
  }
  auto driver = start_driver(options, console, code);
  if (driver == nullptr || !keeps_port) return driver;
  if (const Status kept = folder.keep_port(DataFolder::kPeersPort, driver->listening().port);
      !kept.ok())
    console.warning(kept.error().message());
  return driver;
}

// The daemon works all the same where the service manager does not listen.
void tell_manager(const char* state, Console& console) {
  if (const Status told = tell_service_manager(state); !told.ok())
    console.warning(told.error().message());
}

// Of texts that the option has taken.
BandwidthSchedule schedule_of(const std::vector<std::string>& texts) {
  std::vector<ScheduleRule> rules;
  for (const std::string& text : texts)
    if (auto rule = parse_schedule_rule(text); rule.ok()) rules.push_back(*std::move(rule));
  return BandwidthSchedule(std::move(rules));
}

std::string schedule_rule(const std::string& text) {
  const auto rule = parse_schedule_rule(text);
  return rule.ok() ? "" : rule.error().message();
}

ConfiguredLimits configured_limits(const DaemonArguments& arguments) {
  const auto signed_rate = [](std::uint64_t rate) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(rate, INT64_MAX));
  };
  const LimitChange goals = limits_of(arguments.goals).value();
  const NetworkOptions& network = arguments.network;
  return {{signed_rate(network.up_limit), signed_rate(network.down_limit),
           std::max<std::int64_t>(goals.seed_ratio.value_or(0), 0),
           std::max<std::int64_t>(goals.seed_seconds.value_or(0), 0)},
          signed_rate(network.content_up_limit),
          signed_rate(network.content_down_limit),
          schedule_of(arguments.schedule)};
}

// Where contents go that come without a folder: of --watch, and of `add` without one.
std::string download_folder(const DaemonArguments& arguments) {
  return arguments.downloads.empty() ? user_download_folder() : absolute(arguments.downloads);
}

// Of --watch.
Result<std::vector<WatchedFolder>> watched_folders(const DaemonArguments& arguments) {
  std::vector<WatchedFolder> folders;
  for (const std::string& folder : arguments.watched) {
    folders.push_back({absolute(folder), download_folder(arguments)});
    if (const Status right = check_watched(folders.back()); !right.ok()) return right.error();
  }
  return folders;
}

// Reads options and configuration again, and gives a running daemon what can change: the keys that
// daemon_reload.cc names.
Result<std::vector<Setting>> read_and_apply(const ReadAgain& read_again, Hooks& hooks,
                                            TransferLimits& limits, std::string& downloads,
                                            ContentList& list) {
  const auto fresh = std::make_shared<DaemonArguments>();
  auto settings =
      read_again([&](CLI::App& app, Chosen& chosen) { add_daemon_options(app, chosen, fresh); });
  if (!settings.ok()) return settings;
  auto watched = watched_folders(*fresh);
  if (!watched.ok()) return watched.error();
  limits.configure(configured_limits(*fresh));
  list.limits_changed();
  hooks.set(fresh->hooks);
  downloads = download_folder(*fresh);
  list.watch_configured(*std::move(watched));
  return settings;
}

// What the configuration says at the start; empty where it cannot be read any more.
std::vector<Setting> settings_of(const ReadAgain& read_again) {
  const auto ignored = std::make_shared<DaemonArguments>();
  auto settings =
      read_again([&](CLI::App& app, Chosen& chosen) { add_daemon_options(app, chosen, ignored); });
  return settings.ok() ? *std::move(settings) : std::vector<Setting>();
}

// Of what outlives them, as all of run() does its list.
PlanContent plans_of(const DaemonArguments& arguments, const Signer& signer,
                     const PeerDriver& driver, Console& console) {
  return [&](const KeptContent& kept) {
    return plan_kept(arguments.network, arguments.origins, kept, signer, driver.id(), console);
  };
}

std::function<std::vector<Address>()> addresses_of(const DaemonArguments& arguments,
                                                   const PeerDriver& driver) {
  return [&] { return link_addresses(arguments.network, driver.listening()); };
}

// In full: contents are added by the names of files below it.
std::string data_of(const DaemonArguments& arguments) {
  return arguments.data.empty() ? DataFolder::default_path() : absolute(arguments.data);
}

std::string socket_of(const DaemonArguments& arguments, const std::string& data) {
  return arguments.socket.empty() ? DataFolder::default_socket(data) : arguments.socket;
}

// No more downloads are active than there are descriptors for; the others wait.
QueueLimits within_descriptors(QueueLimits queue, Console& console) {
  const std::size_t descriptors = proto::transport::descriptor_limit();
  const std::size_t most = std::max<std::size_t>(
      proto::transport::downloads_within(descriptors) / store::kDescriptorsOfDownload, 1);
  if (queue.downloads != 0 && queue.downloads <= most) return queue;
  if (queue.downloads > most)
    console.warning(fmt::format(
        "--max-downloads {}: with {} descriptors {} can be active at a time, others wait; raise "
        "the hard limit (ulimit -Hn, LimitNOFILE=)",
        queue.downloads, descriptors, most));
  queue.downloads = most;
  return queue;
}

Result<std::unique_ptr<ContentsStore>> open_contents(const DataFolder& folder) {
  const auto file = folder.contents_file();
  if (!file.ok()) return file.error();
  return ContentsStore::open(*file);
}

ExitCode run(const DaemonArguments& arguments, Console& console) {
  const StopRequest stop;
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  auto options = driver_options(arguments.network, arguments.codec, kMemoryShares);
  if (!options.ok()) return fail(console, options.error());
  options->stays = true;
  auto watched = watched_folders(arguments);
  if (!watched.ok()) return fail(console, watched.error());
  const std::string data = data_of(arguments);
  const auto folder = DataFolder::take(data);
  if (!folder.ok()) return fail(console, folder.error());
  const auto store = open_contents(*folder);
  if (!store.ok()) return fail(console, store.error());
  const auto signer = Signer::for_serving(arguments.signing);
  if (!signer.ok()) return fail(console, signer.error());
  auto limits = TransferLimits::restore(**store, configured_limits(arguments));
  if (!limits.ok()) return fail(console, limits.error());
  ExitCode code = ExitCode::kOk;
  const auto driver = start_where_it_was(*options, *folder, console, code);
  if (!driver) return code;
  Hooks hooks(driver->loop(), console);
  hooks.set(arguments.hooks);
  std::string downloads = download_folder(arguments);
  const auto list = ContentList::restore(
      {*driver, **store, *limits, *parse_duration(arguments.queue_patience), console, hooks,
       downloads, plans_of(arguments, *signer, *driver, console), addresses_of(arguments, *driver)},
      within_descriptors(arguments.queue, console), read_added);
  if (!list.ok()) return fail(console, list.error());
  (*list)->watch_configured(*std::move(watched));
  const std::string path = socket_of(arguments, data);
  const auto socket =
      ControlSocket::open(driver->loop(), console, path,
                          [&](std::string_view line) { return answer_rpc(line, **list); });
  if (!socket.ok()) return fail(console, socket.error());
  DaemonPage page(arguments.page, *folder, *driver, **list, console);
  if (const Status opened = page.open(); !opened.ok())
    return fail_to_serve(console, opened.error());
  std::unique_ptr<MetricsServer> metrics;
  if (!arguments.metrics.empty()) {
    auto opened = open_metrics_server(arguments.metrics, *driver, list->get(), console);
    if (!opened.ok()) return fail_to_serve(console, opened.error());
    metrics = *std::move(opened);
  }
  (*list)->offer_page([&page] { return page.tell(); });
  DaemonStreams streams(arguments.streams, *folder, driver->readings(), console);
  (*list)->offer_streams(
      {[&streams](const ContentId& content) { return streams.tell(content); },
       [&streams](const ContentId& content, const std::string& number, const std::string& host) {
         return streams.url(content, number, host);
       }});
  DaemonReload reload(console, settings_of(arguments.read_again), [&] {
    return read_and_apply(arguments.read_again, hooks, *limits, downloads, **list);
  });
  driver->on_reload([&] { reload.run(); });
  say_start(*driver, path, data, (*list)->size(), console);
  tell_manager("READY=1", console);
  bool leaves = false;
  const auto leave = [&] {
    if (!std::exchange(leaves, true)) tell_manager("STOPPING=1", console);
  };
  driver->on_turn([&](core::TimeUs now) {
    if (stop.requested()) driver->stop();  // it came before the loop took signals
    if (driver->stopping()) leave();
    return std::min((*socket)->turn(now), (*list)->turn());
  });
  // A content's failure does not change the exit code; `list` shows it.
  (void)driver->run();
  leave();
  (*list)->finish();
  return ExitCode::kOk;
}

// What bounds the daemon, and how many contents are active.
void add_limits(CLI::App& command, DaemonArguments& arguments) {
  command
      .add_option("--schedule", arguments.schedule,
                  "other limits of all contents together at some times of the week, local time: "
                  "'mon-fri 08:00-18:00 up=1M down=2M' (repeatable; the first that fits counts)")
      ->option_text("RULE")
      ->check(schedule_rule);
  command
      .add_option("--max-downloads", arguments.queue.downloads,
                  "downloads that are active at a time, others wait; 0: all")
      ->option_text("N")
      ->capture_default_str();
  command
      .add_option("--max-seeds", arguments.queue.seeds,
                  "complete contents that are served at a time, others wait; 0: all")
      ->option_text("N")
      ->capture_default_str();
  command
      .add_option("--queue-patience", arguments.queue_patience,
                  "a download that stands still for this time lets one that waits go first")
      ->option_text("DURATION")
      ->check(positive_duration)
      ->capture_default_str();
  add_goal_options(command, arguments.goals, "; unless a content has its own");
  for (const char* name : {"--seed-ratio", "--seed-time"})
    command.get_option(name)->configurable(true);
}

void add_hook_options(CLI::App& command, HookCommands& hooks) {
  const auto add_hook = [&command](const char* name, std::string& hook, const char* description) {
    command.add_option(name, hook, description)
        ->option_text("COMMAND")
        ->check(not_empty())
        ->group("Commands to run");
  };
  add_hook("--on-added", hooks.on_added,
           "run this shell command when a content is added; FIRN_CONTENT_ID, FIRN_NAME and "
           "FIRN_DIR tell which");
  add_hook("--on-complete", hooks.on_complete, "the same when a download is complete and verified");
  add_hook("--on-error", hooks.on_error, "the same when a content fails; FIRN_ERROR says why");
}

void add_daemon_options(CLI::App& app, Chosen& chosen,
                        const std::shared_ptr<DaemonArguments>& arguments) {
  CLI::App* command = app.add_subcommand(
      "daemon", "hold all contents that add gives it, across restarts, until it is stopped");
  command
      ->add_option("--socket", arguments->socket,
                   "where it takes commands (default: $XDG_RUNTIME_DIR/firn.sock, else firn.sock "
                   "in its data folder)")
      ->option_text("PATH")
      ->check(not_empty());
  command
      ->add_option("--data", arguments->data,
                   "folder that keeps its list of contents (default: $XDG_STATE_HOME/firn, else "
                   "~/.local/state/firn)")
      ->option_text("DIR")
      ->check(not_empty());
  add_sign_option(*command, arguments->signing);
  add_certificate_option(*command, arguments->signing);
  command
      ->add_option("--http", arguments->page.listen,
                   "serve the page and JSON-RPC over HTTP there, with a token: localhost:8080")
      ->option_text("HOST:PORT")
      ->check(not_empty());
  command
      ->add_option("--token-file", arguments->page.token_file,
                   "file with the token for HTTP, made if missing (default: http-token in the data "
                   "folder)")
      ->option_text("FILE")
      ->check(not_empty());
  add_metrics_option(*command, arguments->metrics);
  command
      ->add_option("--streams", arguments->streams,
                   "serve players there, once play is asked for, in place of a port of this "
                   "machine alone")
      ->option_text("HOST:PORT")
      ->check(not_empty());
  add_limits(*command, *arguments);
  command
      ->add_option("--download-dir", arguments->downloads,
                   "folder for contents that come without one: from --watch, and from add without "
                   "-o (default: the desktop's folder for downloads, else ~/Downloads)")
      ->option_text("DIR")
      ->check(not_empty());
  command
      ->add_option("--watch", arguments->watched,
                   "add what appears in this folder: .firn files, and .link files with links "
                   "(repeatable)")
      ->option_text("DIR")
      ->check(not_empty());
  add_hook_options(*command, arguments->hooks);
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_origin_access_options(*command, arguments->origins);
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace

void add_daemon_command(CLI::App& app, Chosen& chosen, const ReadAgain& read_again) {
  const auto arguments = std::make_shared<DaemonArguments>();
  arguments->read_again = read_again;
  add_daemon_options(app, chosen, arguments);
}

}  // namespace firn::app
