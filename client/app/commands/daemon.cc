// firn daemon: one process that holds all contents, and takes commands on a Unix socket.
#include <chrono>
#include <nlohmann/json.hpp>

#include "client/app/commands/commands.h"
#include "client/app/commands/content_source.h"
#include "client/app/commands/options.h"
#include "client/app/commands/planning.h"
#include "client/app/commands/running.h"
#include "client/app/console/quantities.h"
#include "client/app/daemon/content_list.h"
#include "client/app/daemon/control_socket.h"
#include "client/app/daemon/data_folder.h"
#include "client/content/find_folder.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

// How many contents --memory is shared out for. More may be active: those that wait or serve use
// little of their share.
constexpr std::size_t kMemoryShares = 8;

struct DaemonArguments {
  std::string socket;
  std::string data;
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
  ConsoleOptions console;
};

// A descriptor of the caller's is another file here, or the daemon's own.
bool names_descriptor(const std::string& path) {
  return path.starts_with("/dev/") || path.starts_with("/proc/");
}

// What is kept of a content that a caller adds.
Result<KeptContent> read_added(const AddRequest& request) {
  const std::string operation = "add " + request.source;
  if (names_descriptor(request.source))
    return Error{ErrorCode::kBadInput, operation,
                 "the daemon takes a manifest from a file alone: write it into one first"};
  if (!request.folder.starts_with('/'))
    return Error{ErrorCode::kBadInput, operation, "its folder must be an absolute path"};
  if (const auto seeding = parse_seed_policy(request.seeding); !seeding.ok())
    return seeding.error();
  const auto source = read_source(request.source);
  if (!source.ok()) return source.error();
  // The daemon's own folder means nothing to a caller.
  if (source->manifest && !request.source.starts_with('/'))
    return Error{ErrorCode::kBadInput, operation, "a manifest's path must be absolute"};
  KeptContent kept;
  kept.id = source->content_id;
  kept.kind = request.serve ? KeptContent::Kind::kServe : KeptContent::Kind::kDownload;
  kept.folder = request.folder;
  kept.seeding = request.seeding;
  if (source->manifest) {
    kept.manifest = source->manifest->file_bytes;
    if (request.serve)
      kept.folder = content::find_content_folder(source->manifest->info, request.folder);
  } else {
    kept.link = to_text(Link{source->content_id, source->trackers, source->peers, source->publisher,
                             source->secret});
  }
  return kept;
}

Result<ContentSource> source_of(const KeptContent& kept) {
  ContentSource source;
  if (!kept.link.empty()) {
    auto read = read_source(kept.link, kept.folder);
    if (!read.ok() || kept.manifest.empty()) return read;
    source = *std::move(read);
    if (source.manifest) return source;
  }
  auto manifest = parse_manifest(kept.manifest, kept.id);
  if (!manifest.ok()) return manifest.error();
  source.content_id = kept.id;
  source.trackers.insert(source.trackers.end(), manifest->trackers.begin(),
                         manifest->trackers.end());
  source.manifest = *std::move(manifest);
  return source;
}

// A time to stay goes on where an earlier run stopped; a ratio begins anew.
core::SeedPolicy seeding_left(const KeptContent& kept, core::SeedPolicy policy) {
  if (kept.finished_at == 0) return policy;
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  const core::TimeUs stayed = std::max<std::int64_t>(0, now - kept.finished_at) * core::kSecond;
  policy.duration = std::max<core::TimeUs>(0, policy.duration - stayed);
  return policy;
}

Result<SessionPlan> plan_of(const DaemonArguments& arguments, const KeptContent& kept,
                            Console& console) {
  auto source = source_of(kept);
  if (!source.ok()) return source.error();
  auto plan = session_plan(*std::move(source), arguments.network, {}, kept.folder);
  if (!plan.ok()) return plan;
  const auto seeding = parse_seed_policy(kept.seeding);
  if (!seeding.ok()) return seeding.error();
  plan->core.seeding = seeding_left(kept, *seeding);
  const bool serves = kept.kind == KeptContent::Kind::kServe || kept.finished_at != 0;
  plan->mode = serves ? SessionPlan::Mode::kServe : SessionPlan::Mode::kDownload;
  plan->offer_manifest = serves;
  if (serves && plan->manifest)
    plan->dir = found_folder(plan->manifest->info, kept.folder, console);
  return plan;
}

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

ExitCode run(const DaemonArguments& arguments, Console& console) {
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  auto options = driver_options(arguments.network, arguments.codec, kMemoryShares);
  if (!options.ok()) return fail(console, options.error());
  options->stays = true;
  const std::string data = arguments.data.empty() ? DataFolder::default_path() : arguments.data;
  const auto folder = DataFolder::take(data);
  if (!folder.ok()) return fail(console, folder.error());
  const auto store = ContentsStore::open(data + "/contents.sqlite");
  if (!store.ok()) return fail(console, store.error());
  ExitCode code = ExitCode::kOk;
  const auto driver = start_driver(*options, console, code);
  if (!driver) return code;
  const auto list = ContentList::restore(
      {*driver, **store, console,
       [&](const KeptContent& kept) { return plan_of(arguments, kept, console); }},
      read_added);
  if (!list.ok()) return fail(console, list.error());
  const std::string path =
      arguments.socket.empty() ? DataFolder::default_socket(data) : arguments.socket;
  const auto socket = ControlSocket::open(
      driver->loop(), path, [&](std::string_view line) { return answer_rpc(line, **list); });
  if (!socket.ok()) return fail(console, socket.error());
  say_start(*driver, path, data, (*list)->size(), console);
  driver->on_turn([&](core::TimeUs) { return (*list)->turn(); });
  // A content's failure does not change the exit code; `list` shows it.
  (void)driver->run();
  return ExitCode::kOk;
}

}  // namespace

void add_daemon_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<DaemonArguments>();
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
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
