// firn-saboteur LINK|X.firn --deeds DEEDS -o DIR: a peer as `firn get` with --seed forever, from
// the same parts, that does to the swarm what the deeds say (deeds.h). Not installed: for tests
// and races.
//
// It says with --json, besides what `firn get` says: {"event": "deeds", "peer": its id, "blocks":
// sent, "false_blocks": those of them that were false}, at the first false one and in the end; with
// `fresh` for each of its identities.
#include <CLI/CLI.hpp>
#include <csignal>
#include <nlohmann/json.hpp>

#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/transfer/running.h"
#include "proto/transport/transport.h"
#include "tests/hostile/hostile_transport.h"

namespace {

using namespace firn;
using hostile::HostileTransport;

struct Arguments {
  std::string source;
  std::string dir = ".";
  std::string deeds_text;
  app::NetworkOptions network;
  app::ConsoleOptions console;
  hostile::Deeds deeds;
};

Result<app::SessionPlan> plan_of(const Arguments& arguments) {
  auto source = app::read_source(arguments.source, arguments.dir);
  if (!source.ok()) return source.error();
  auto core = app::core_options(arguments.network, source->trackers, source->peers);
  if (!core.ok()) return core.error();
  core->agent = hostile::kAgent;
  core->seeding.kind = core::SeedPolicy::Kind::kForever;
  app::SessionPlan plan;
  plan.content_id = source->content_id;
  plan.keys = source->keys();
  plan.manifest = std::move(source->manifest);
  plan.dir = arguments.dir;
  plan.core = *std::move(core);
  plan.core.publisher = source->publisher;
  return plan;
}

// A process under one identity, until it is told to stop or takes another one.
class Life {
 public:
  Life(const Arguments& arguments, app::Console& console)
      : arguments_(arguments), console_(console) {}

  app::ExitCode live(const app::DriverOptions& options, app::SessionPlan plan) {
    auto driver = app::PeerDriver::start(
        options, console_,
        [this](auto&... with) -> Result<std::unique_ptr<proto::transport::Transport>> {
          auto made = HostileTransport::start(&proto::transport::Transport::start, arguments_.deeds,
                                              with...);
          if (!made.ok()) return made.error();
          transport_ = made->get();
          return std::unique_ptr<proto::transport::Transport>(*std::move(made));
        });
    if (!driver.ok()) return app::fail(console_, driver.error());
    driver_ = driver->get();
    session_ = &driver_->add(std::move(plan));
    driver_->on_turn([this](core::TimeUs now) { return turn(now); });
    const app::ExitCode code = driver_->run();
    tell();
    return code;
  }
  // It has stopped to take another identity.
  bool renamed() const { return renamed_; }

 private:
  core::TimeUs turn(core::TimeUs now) {
    if (session_->plan().manifest) transport_->learn(session_->plan().manifest->info.shape);
    if (!told_ && transport_->counts().falsified > 0) tell();
    if (arguments_.deeds.renamed == 0 || renamed_) return core::kNever;
    if (ends_ == 0) ends_ = now + arguments_.deeds.renamed;
    if (now < ends_) return ends_;
    renamed_ = true;
    driver_->stop();
    return core::kNever;
  }

  void tell() {
    told_ = true;
    const HostileTransport::Counts counts = transport_->counts();
    console_.event({{"event", "deeds"},
                    {"peer", driver_->id().text()},
                    {"blocks", counts.blocks},
                    {"false_blocks", counts.falsified}});
  }

  const Arguments& arguments_;
  app::Console& console_;
  HostileTransport* transport_ = nullptr;  // the driver's
  app::PeerDriver* driver_ = nullptr;
  app::ContentSession* session_ = nullptr;
  core::TimeUs ends_ = 0;
  bool renamed_ = false;
  bool told_ = false;
};

app::ExitCode run(const Arguments& arguments, app::Console& console) {
  auto options = app::driver_options(arguments.network, app::CodecOptions{}, 1);
  if (!options.ok()) return app::fail(console, options.error());
  for (;;) {
    auto plan = plan_of(arguments);
    if (!plan.ok()) return app::fail(console, plan.error());
    Life life(arguments, console);
    const app::ExitCode code = life.live(*options, *std::move(plan));
    if (!life.renamed()) return code;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  Arguments arguments;
  CLI::App app("A peer that spoils swarms, for tests.", "firn-saboteur");
  app.add_option("SOURCE", arguments.source, "a link or a manifest file")->required();
  app.add_option("-o,--output", arguments.dir, "folder to put the content into");
  app.add_option("--deeds", arguments.deeds_text, "what it does: tests/hostile/deeds.h")
      ->required()
      ->check([&](const std::string& text) {
        const auto deeds = hostile::parse_deeds(text);
        if (deeds.ok()) arguments.deeds = *deeds;
        return deeds.ok() ? std::string() : deeds.error().message();
      });
  add_network_options(app, arguments.network);
  add_console_options(app, arguments.console);
  CLI11_PARSE(app, argc, argv);
  return static_cast<int>(app::with_console(
      arguments.console, [&](app::Console& console) { return run(arguments, console); }));
}
