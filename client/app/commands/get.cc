// firn get LINK|X.firn... -o DIR: download, verify, stay as long as --seed says.
#include <fmt/format.h>

#include "client/app/commands/commands.h"
#include "client/app/commands/content_source.h"
#include "client/app/commands/options.h"
#include "client/app/commands/running.h"
#include "client/app/quantities.h"

namespace firn::app {
namespace {

struct GetArguments {
  std::vector<std::string> sources;
  std::string dir;
  bool overwrite = false;
  std::string seed;
  std::string on_complete;
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
  ConsoleOptions console;
};

Result<SessionPlan> plan_of(const GetArguments& arguments, const std::string& text,
                            Console& console) {
  auto source = read_source(text);
  if (!source.ok()) return source.error();
  if (!source->manifest) {
    source->manifest = kept_manifest(arguments.dir, source->content_id);
    if (source->manifest)
      for (const Address& address : source->manifest->trackers) source->trackers.push_back(address);
  }
  auto core = core_options(arguments.network, source->trackers, source->peers);
  if (!core.ok()) return core.error();
  if (!arguments.seed.empty()) {
    const auto policy = parse_seed_policy(arguments.seed);
    if (!policy.ok()) return policy.error();
    core->seeding = *policy;
  }
  if (core->trackers.empty() && core->peers.empty())
    console.warning("no tracker and no peer is known: waiting for peers to connect to us",
                    source->content_id);
  SessionPlan plan;
  plan.mode = SessionPlan::Mode::kDownload;
  plan.content_id = source->content_id;
  plan.manifest = std::move(source->manifest);
  plan.dir = arguments.dir;
  plan.overwrite = arguments.overwrite;
  plan.on_complete = arguments.on_complete;
  plan.core = *std::move(core);
  return plan;
}

ExitCode run(const GetArguments& arguments, Console& console) {
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  auto options = driver_options(arguments.network, arguments.codec, arguments.sources.size());
  if (!options.ok()) return fail(console, options.error());
  std::vector<SessionPlan> plans;
  for (const std::string& text : arguments.sources) {
    auto plan = plan_of(arguments, text, console);
    if (!plan.ok()) return fail(console, plan.error());
    for (const SessionPlan& other : plans)
      if (other.content_id == plan->content_id)
        return fail(console, {ErrorCode::kBadInput, "get " + text, "named twice"});
    plans.push_back(*std::move(plan));
  }
  ExitCode code = ExitCode::kOk;
  const auto driver = start_driver(*options, console, code);
  if (!driver) return code;
  for (SessionPlan& plan : plans) driver->add(std::move(plan));
  code = driver->run();
  if (code == ExitCode::kInterrupted)
    console.info("interrupted; the same command goes on where it stopped");
  return code;
}

}  // namespace

void add_get_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<GetArguments>();
  CLI::App* command = app.add_subcommand("get", "download; goes on where it stopped before");
  command->add_option("SOURCE", arguments->sources, "links or manifest files")
      ->option_text("LINK|X.firn")
      ->required();
  command->add_option("-o,--output", arguments->dir, "folder in which the content will stand")
      ->option_text("DIR")
      ->required();
  command->add_flag("--overwrite", arguments->overwrite,
                    "replace files in DIR that are in the way");
  command
      ->add_option("--seed", arguments->seed,
                   "how long to stay when complete: none, forever, a ratio (1.5) or a duration "
                   "(30m); default: while connected peers need it, 30s at most")
      ->option_text("HOW")
      ->check([](const std::string& text) {
        const auto policy = parse_seed_policy(text);
        return policy.ok() ? std::string() : policy.error().message();
      });
  command
      ->add_option("--on-complete", arguments->on_complete,
                   "shell command to run once all is verified; it finds FIRN_CONTENT_ID, FIRN_DIR "
                   "and FIRN_NAME in its environment")
      ->option_text("COMMAND");
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_console_options(*command, arguments->console);
  command->callback([arguments, &chosen] {
    chosen = [arguments] {
      return with_console(arguments->console,
                          [&](Console& console) { return run(*arguments, console); });
    };
  });
}

}  // namespace firn::app
