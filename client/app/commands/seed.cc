// firn seed X.firn DIR [Y.firn DIR2]...: serve what stands in DIR until interrupted.
#include "client/app/commands/commands.h"
#include "client/app/commands/content_source.h"
#include "client/app/commands/options.h"
#include "client/app/commands/running.h"

namespace firn::app {
namespace {

struct SeedArguments {
  std::vector<std::string> pairs;  // X.firn, DIR, ...
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
  ConsoleOptions console;
};

Result<SessionPlan> plan_of(const SeedArguments& arguments, const std::string& manifest_path,
                            const std::string& dir) {
  auto manifest = read_manifest_file(manifest_path);
  if (!manifest.ok()) return manifest.error();
  auto core = core_options(arguments.network, manifest->trackers, {});
  if (!core.ok()) return core.error();
  SessionPlan plan;
  plan.mode = SessionPlan::Mode::kServe;
  plan.content_id = manifest->id;
  plan.manifest = *std::move(manifest);
  plan.dir = dir;
  plan.offer_manifest = true;
  plan.core = *std::move(core);
  plan.core.seeding.kind = core::SeedPolicy::Kind::kForever;
  return plan;
}

ExitCode run(const SeedArguments& arguments, Console& console) {
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  auto options = driver_options(arguments.network, arguments.codec, arguments.pairs.size() / 2);
  if (!options.ok()) return fail(console, options.error());
  options->only_serves = true;
  std::vector<SessionPlan> plans;
  for (std::size_t i = 0; i < arguments.pairs.size(); i += 2) {
    auto plan = plan_of(arguments, arguments.pairs[i], arguments.pairs[i + 1]);
    if (!plan.ok()) return fail(console, plan.error());
    for (const SessionPlan& other : plans)
      if (other.content_id == plan->content_id)
        return fail(console,
                    {ErrorCode::kBadInput, "seed " + arguments.pairs[i], "the same content twice"});
    plans.push_back(*std::move(plan));
  }
  ExitCode code = ExitCode::kOk;
  const auto driver = start_driver(*options, console, code);
  if (!driver) return code;
  for (SessionPlan& plan : plans) driver->add(std::move(plan));
  return driver->run();
}

}  // namespace

void add_seed_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<SeedArguments>();
  CLI::App* command = app.add_subcommand("seed", "serve finished contents until interrupted");
  command
      ->add_option("PAIRS", arguments->pairs,
                   "a manifest and the folder in which its content stands; more such pairs")
      ->option_text("X.firn DIR ...")
      ->required()
      ->expected(2, 2000);
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_console_options(*command, arguments->console);
  command->callback([arguments, &chosen] {
    if (arguments->pairs.size() % 2 != 0)
      throw CLI::ValidationError("seed",
                                 "each manifest needs its folder: X.firn DIR [Y.firn DIR2]");
    chosen = [arguments] {
      return with_console(arguments->console,
                          [&](Console& console) { return run(*arguments, console); });
    };
  });
}

}  // namespace firn::app
