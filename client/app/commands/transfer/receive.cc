// firn receive: what firn push starts on a host. Downloads as the order on standard input says.
#include <unistd.h>

#include <cstdlib>

#include "client/app/commands/commands.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/transfer/planning.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/push/receiving.h"

namespace firn::app {
namespace {

struct ReceiveArguments {
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
  ConsoleOptions console;
};

// The folder as a login shell would read it.
std::string folder_of_order(const std::string& dir) {
  const char* const home = std::getenv("HOME");
  if (dir.empty()) return ".";
  if (home && (dir == "~" || dir.starts_with("~/"))) return home + dir.substr(1);
  return dir;
}

Result<SessionPlan> plan_of(const ReceiveArguments& arguments, const PushOrder& order,
                            const SshAddresses& ssh) {
  const std::string dir = folder_of_order(order.dir);
  auto source = read_source(order.link, dir);
  if (!source.ok()) return source.error();
  // The pusher's own addresses may mean nothing here; the one that its ssh came from may.
  if (!ssh.client.empty() && !source->peers.empty()) {
    Address client = source->peers.front();
    client.host = ssh.client;
    source->peers.push_back(client);
  }
  auto plan = session_plan(*std::move(source), arguments.network, {}, dir);
  if (!plan.ok()) return plan;
  plan->mode = SessionPlan::Mode::kDownload;
  plan->as = order.as;
  plan->overwrite = order.overwrite;
  plan->repair = order.repair;
  if (order.timeout_s > 0) plan->timeout = order.timeout_s * core::kSecond;
  plan->core.seeding.kind = core::SeedPolicy::Kind::kForever;  // until the pusher says so
  return plan;
}

ExitCode run(const ReceiveArguments& arguments, Console& console) {
  PushFrameReader reader;
  const auto order = read_order(STDIN_FILENO, reader);
  if (!order.ok()) return fail(console, order.error());
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  const SshAddresses ssh = SshAddresses::of_environment();
  auto options = driver_options(arguments.network, arguments.codec, 1);
  if (!options.ok()) return fail(console, options.error());
  auto plan = plan_of(arguments, *order, ssh);
  if (!plan.ok()) return fail(console, plan.error());
  ExitCode code = ExitCode::kOk;
  const auto driver = start_driver(*options, console, code);
  if (!driver) return code;
  Receiving receiving(*driver, driver->add(*std::move(plan)), std::move(reader), ssh);
  const auto ended = receiving.run();
  return ended.ok() ? *ended : fail(console, ended.error());
}

}  // namespace

void add_receive_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<ReceiveArguments>();
  CLI::App* command = app.add_subcommand(
      "receive", "what firn push starts on a host; its order comes on standard input");
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
