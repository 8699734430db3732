// firn share PATH...: create, announce, serve until interrupted.
#include <fmt/format.h>

#include <algorithm>

#include "client/app/commands/bytes_option.h"
#include "client/app/commands/commands.h"
#include "client/app/commands/content_source.h"
#include "client/app/commands/options.h"
#include "client/app/commands/running.h"
#include "client/app/worker_pool.h"
#include "client/content/create.h"
#include "proto/link.h"

namespace firn::app {
namespace {

// How long the link may wait for trackers to say their ids.
constexpr core::TimeUs kLinkTime = 2 * core::kSecond;

struct ShareArguments {
  std::vector<std::string> paths;
  std::string output;
  std::uint32_t generation_size = 0;
  std::uint64_t block_bytes = 0;
  bool leave_when_safe = false;
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
  ConsoleOptions console;
};

// Peers elsewhere can only use an address that was given to be used.
std::vector<Address> own_address(const ShareArguments& arguments, const PeerDriver& driver) {
  const auto given = parse_address(arguments.network.listen);
  if (!given.ok() || given->host.empty() || given->host == "*" || given->host == "0.0.0.0" ||
      given->host == "::")
    return {};
  Address own = driver.listening();
  own.host = given->host;
  own.id = driver.id();
  return {own};
}

Result<SessionPlan> plan_of(const ShareArguments& arguments, const std::string& path,
                            Console& console) {
  auto trackers = parse_addresses(arguments.network.trackers);
  if (!trackers.ok()) return trackers.error();
  content::CreateOptions options;
  options.generation_size = arguments.generation_size;
  options.block_bytes = static_cast<std::uint32_t>(arguments.block_bytes);
  options.trackers = *trackers;
  options.threads = arguments.codec.threads;
  options.progress = hashing_progress(console, "hashing " + path);
  auto manifest = content::create_manifest(path, options);
  if (!manifest.ok()) return manifest.error();
  if (!arguments.output.empty()) {
    const Status written = write_file(arguments.output, manifest->file_bytes);
    if (!written.ok()) return written.error();
  }
  auto core = core_options(arguments.network, {}, {});
  if (!core.ok()) return core.error();
  SessionPlan plan;
  plan.mode = SessionPlan::Mode::kServe;
  plan.content_id = manifest->id;
  plan.manifest = *std::move(manifest);
  plan.dir = folder_of(path);
  plan.offer_manifest = true;
  plan.core = *std::move(core);
  using Kind = core::SeedPolicy::Kind;
  plan.core.seeding.kind = arguments.leave_when_safe ? Kind::kWhenSafe : Kind::kForever;
  return plan;
}

ExitCode run(const ShareArguments& arguments, Console& console) {
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  auto options = driver_options(arguments.network, arguments.codec, arguments.paths.size());
  if (!options.ok()) return fail(console, options.error());
  options->only_serves = true;
  ExitCode code = ExitCode::kOk;
  const auto driver = start_driver(*options, console, code);
  if (!driver) return code;

  std::vector<ContentSession*> sessions;
  for (const std::string& path : arguments.paths) {
    auto plan = plan_of(arguments, path, console);
    if (!plan.ok()) return fail(console, plan.error());
    for (const ContentSession* other : sessions)
      if (other->plan().content_id == plan->content_id)
        return fail(console, {ErrorCode::kBadInput, "share " + path, "the same content twice"});
    sessions.push_back(&driver->add(*std::move(plan)));
  }
  console.clear_progress();
  console.hold_events();
  bool told = false;
  core::TimeUs due = core::kNever;
  driver->on_turn([&](core::TimeUs now) {
    if (told) return core::kNever;
    if (due == core::kNever) due = now + kLinkTime;
    const bool heard = std::all_of(sessions.begin(), sessions.end(), [](const auto* session) {
      return session->running() && session->announced();
    });
    if (!heard && now < due) return due;
    told = true;
    std::string links;
    for (const auto* session : sessions) {
      const Link link{session->plan().content_id, session->trackers(),
                      own_address(arguments, *driver)};
      links += (links.empty() ? "" : "\n") + to_text(link);
    }
    console.print(links);
    return core::kNever;
  });
  return driver->run();
}

}  // namespace

void add_share_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<ShareArguments>();
  CLI::App* command = app.add_subcommand(
      "share", "share files or folders until interrupted; prints a link for each");
  command->add_option("PATH", arguments->paths, "files or folders; symbolic links are refused")
      ->required();
  CLI::Option* output =
      command
          ->add_option("-o,--output", arguments->output, "write the manifest too (one PATH only)")
          ->option_text("X.firn");
  command
      ->add_option("--generation-size", arguments->generation_size,
                   "blocks in a generation (default: by content size)")
      ->option_text("N")
      ->check(CLI::PositiveNumber);
  add_bytes_option(*command, "--block-size", arguments->block_bytes,
                   "bytes in a block (default: by content size)")
      ->check(CLI::Range(1u, 1u << 20).description(""));
  command->add_flag("--leave-when-safe", arguments->leave_when_safe,
                    "end once the peers connected hold everything between them");
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_console_options(*command, arguments->console);
  command->callback([arguments, output, &chosen] {
    if (output->count() > 0 && arguments->paths.size() > 1)
      throw CLI::ValidationError("-o", "goes with one PATH");
    chosen = [arguments] {
      return with_console(arguments->console,
                          [&](Console& console) { return run(*arguments, console); });
    };
  });
}

}  // namespace firn::app
