// firn share PATH...: create, announce, serve until interrupted.
#include "client/app/commands/transfer/share.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/app/commands/commands.h"
#include "client/app/commands/daemon/share_daemon.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/making_options.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/options/origin_options.h"
#include "client/app/commands/options/own_addresses.h"
#include "client/app/commands/options/publishing_options.h"
#include "client/app/commands/options/status_option.h"
#include "client/app/commands/options/until_option.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/commands/transfer/stop_request.h"
#include "client/app/commands/transfer/url_source.h"
#include "client/app/runtime/worker_pool.h"
#include "client/store/hash_memory.h"
#include "proto/content/link.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

// How long the link may wait for trackers to say their ids.
constexpr core::TimeUs kLinkTime = 2 * core::kSecond;

// What one PATH became.
struct Shared {
  ContentSession* session = nullptr;
  std::optional<ContentSecret> secret;  // of a private content
};

}  // namespace

Result<MadeContent> make_content(const ShareArguments& arguments, const std::string& path,
                                 const Signer& signer, std::set<std::string>& excludes_used,
                                 Console& console) {
  auto trackers = parse_addresses(arguments.network.trackers);
  if (!trackers.ok()) return trackers.error();
  auto options = create_options(arguments.making, arguments.codec.alone(), "hashing " + path,
                                console, excludes_used);
  options.trackers = *trackers;
  options.authority = [&](const Info& info) { return signer.authority_for(info); };
  const auto named = named_path(path);
  if (!named.ok()) return named.error();
  const auto origins = origins_to_publish(arguments.origins);
  if (!origins.ok()) return origins.error();
  if (const Status fit = check_origins_fit(*origins, *named); !fit.ok()) return fit.error();
  const std::int64_t began_ns = store::Moment::now().unix_ns;
  auto made = arguments.maker ? arguments.maker(*named, options)
                              : content::create_manifest(*named, options);
  if (!made.ok()) return made.error();
  if (!origins->empty()) made = with_origins(*made, *origins);
  if (!made.ok()) return made.error();
  auto manifest = signer.sign(*std::move(made));
  if (!manifest.ok()) return manifest.error();
  for (const std::string& advice : origin_advice(*manifest)) console.warning(advice, manifest->id);
  if (!arguments.output.empty()) {
    const Status written = OutputFile(arguments.output, kManifestFile).write(manifest->file_bytes);
    if (!written.ok()) return written.error();
  }
  const auto secret = secret_for(arguments.making, signer, manifest->id);
  // A maker may have hashed the bytes before they were a file with this name.
  const std::int64_t hashed_since_ns = arguments.maker ? 0 : began_ns;
  return MadeContent{*std::move(manifest), folder_of(*named), secret, hashed_since_ns};
}

Result<SessionPlan> serving_plan(const ShareArguments& arguments, MadeContent made,
                                 const Signer& signer, const PeerId& self) {
  auto core = core_options(arguments.network, {}, {});
  if (!core.ok()) return core.error();
  auto certificate = signer.certificate(made.manifest, self);
  if (!certificate.ok()) return certificate.error();
  core->certificate = *std::move(certificate);
  SessionPlan plan;
  if (made.secret)
    plan.keys = std::make_shared<const privacy::PrivateKeys>(*made.secret, made.manifest.id);
  plan.mode = SessionPlan::Mode::kServe;
  plan.content_id = made.manifest.id;
  plan.manifest = std::move(made.manifest);
  plan.dir = std::move(made.folder);
  plan.trust = true;  // it has just been read
  plan.hashed_since_ns = made.hashed_since_ns;
  plan.offer_manifest = true;
  plan.core = *std::move(core);
  plan.core.seeding.kind = core::SeedPolicy::Kind::kForever;
  return plan;
}

namespace {

// No file that this command writes, and no secret, is part of what is shared.
Status check_apart(const ShareArguments& arguments, const std::string& path) {
  const OutputFile output(arguments.output, kManifestFile);
  const OutputFile identity(arguments.network.identity_file, kKeyFile);
  Status apart = output.path().empty() ? Done{} : check_output(output, path);
  if (apart.ok() && !identity.path().empty()) apart = identity.check_apart(path);
  return apart.ok() ? check_key_apart(arguments.signing, path) : apart;
}

}  // namespace

std::string link_of(const ShareArguments& arguments, const PeerDriver& driver, const Signer& signer,
                    const ContentSession& session, const std::optional<ContentSecret>& secret) {
  const Manifest& manifest = *session.plan().manifest;
  return to_text(Link{manifest.id, session.trackers().addresses(),
                      link_addresses(arguments.network, driver.listening()), signer.publisher(),
                      secret, origins_for_link(manifest.info, manifest.origins)});
}

namespace {

// Each link alone on a line of stdout, and what to do with it elsewhere on stderr. A secret goes to
// stdout alone.
void print_links(const std::vector<std::string>& links, Console& console) {
  console.print(links);
  for (const std::string& link : links)
    console.info("on another machine: firn get " +
                 (without_secrets(link) == link
                      ? link
                      : "LINK, with the private link, which is not repeated here"));
}

// Who can use the links, and what a firewall must let through for that.
void say_reach(const ShareArguments& arguments, const PeerDriver& driver,
               const std::vector<Shared>& shared, Console& console) {
  if (shared.empty()) return;
  const Address& listening = driver.listening();
  const bool fixed = listen_address(arguments.network)->port != 0;
  const bool known = !arguments.network.identity_file.empty();
  console.info(fmt::format(
      "receivers connect to TCP port {} of this machine{}", listening.port,
      fixed && known ? ""
                     : "; with --listen '*:4712' --identity FILE the link works without a tracker "
                       "after a restart too"));
  const std::string warning = reach_warning(shared.front().session->trackers().addresses(),
                                            link_addresses(arguments.network, listening));
  if (!warning.empty()) console.warning(warning);
}

// Those that no tracker serves end: nobody would find them by their links. The others go on. True
// if there were any.
bool end_refused(std::vector<Shared>& shared, Console& console) {
  return std::erase_if(shared, [&](const Shared& one) {
           ContentSession& session = *one.session;
           if (!session.trackers().all_refused()) return false;
           console.error(
               "refused",
               "no tracker serves " + session.plan().name() +
                   " (what they say stands above); name another with --tracker, or share with "
                   "--no-tracker to peers that are given this address",
               session.plan().content_id);
           session.stop();
           return true;
         }) > 0;
}

}  // namespace

Result<Signer> prepare_making(const ShareArguments& arguments, Console& console) {
  if (const auto origins = origins_to_publish(arguments.origins); !origins.ok())
    return origins.error();
  for (const std::string& path : arguments.paths)
    if (const Status apart = check_apart(arguments, path); !apart.ok()) return apart.error();
  return Signer::for_making(arguments.signing, console);
}

namespace {

// Makes the contents here, with this terminal's progress and this user's keys, and leaves them to
// the daemon.
ExitCode leave_to_daemon(const ShareArguments& arguments, Console& console) {
  const AskOptions daemon{arguments.socket, arguments.console};
  // Before anything is read: whether there is one.
  if (const auto there = ask(daemon, "version", Json()); !there.ok())
    return fail(console, there.error());
  const auto signer = prepare_making(arguments, console);
  if (!signer.ok()) return fail(console, signer.error());
  const StopRequest stop;
  std::set<std::string> excludes_used;
  std::vector<std::string> links;
  for (const std::string& path : arguments.paths) {
    const auto made = make_content(arguments, path, *signer, excludes_used, console);
    if (!made.ok()) return fail_or_stop(console, made.error(), path + " is not shared");
    const auto link = share_with_daemon(daemon, *made, signer->publisher());
    if (!link.ok()) return fail(console, link.error());
    links.push_back(*link);
  }
  warn_of_unused_excludes(arguments.making, excludes_used, console);
  console.clear_progress();
  print_links(links, console);
  return ExitCode::kOk;
}

}  // namespace

ExitCode run_share(const ShareArguments& arguments, Console& console) {
  if (arguments.with_daemon) return leave_to_daemon(arguments, console);
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  auto options = driver_options(arguments.network, arguments.codec, arguments.paths.size());
  if (!options.ok()) return fail(console, options.error());
  options->only_serves = true;
  auto seeding = read_until(arguments.until);
  if (!seeding.ok()) return fail(console, seeding.error());
  if (arguments.leave_when_safe) seeding->kind = core::SeedPolicy::Kind::kWhenSafe;
  const auto signer = prepare_making(arguments, console);
  if (!signer.ok()) return fail(console, signer.error());
  const StopRequest stop;
  ExitCode code = ExitCode::kOk;
  const auto driver = start_driver(*options, console, code);
  if (!driver) return code;

  if (!arguments.maker) console.hold_events();  // a maker tells how far it is
  const StatusDoors status = open_status(arguments.status, *driver, console, code);
  if (status.failed) return code;
  std::vector<Shared> shared;
  std::set<std::string> excludes_used;
  for (const std::string& path : arguments.paths) {
    auto made = make_content(arguments, path, *signer, excludes_used, console);
    if (!made.ok()) return fail_or_stop(console, made.error(), arguments.if_stopped);
    const auto secret = made->secret;
    auto plan = serving_plan(arguments, *std::move(made), *signer, driver->id());
    if (!plan.ok()) return fail(console, plan.error());
    plan->core.seeding = *seeding;
    for (const Shared& other : shared)
      if (other.session->plan().content_id == plan->content_id)
        return fail(console, {ErrorCode::kBadInput, "share " + path, "the same content twice"});
    shared.push_back({&driver->add(*std::move(plan)), secret});
  }
  warn_of_unused_excludes(arguments.making, excludes_used, console);
  console.clear_progress();
  console.hold_events();
  bool told = false, refused = false;
  core::TimeUs due = core::kNever;
  driver->on_turn([&](core::TimeUs now) {
    if (stop.requested()) driver->stop();  // it came before the loop took signals
    if (told) return core::kNever;
    if (due == core::kNever) due = now + kLinkTime;
    const bool heard = std::all_of(shared.begin(), shared.end(), [](const Shared& one) {
      return one.session->running() && one.session->trackers().all_heard();
    });
    if (!heard && now < due) return due;
    told = true;
    refused = end_refused(shared, console);
    std::vector<std::string> links;
    for (const auto& [session, secret] : shared)
      links.push_back(link_of(arguments, *driver, *signer, *session, secret));
    print_links(links, console);
    say_reach(arguments, *driver, shared, console);
    if (console.output_failed()) driver->stop();  // nobody learns of the links
    return core::kNever;
  });
  code = driver->run();
  return refused ? ExitCode::kNetwork : code;
}

namespace {

// Options of the network are the daemon's own, but for --tracker.
CLI::Option* add_daemon_options(CLI::App& command, ShareArguments& arguments) {
  CLI::Option* daemon =
      command
          .add_flag("--daemon", arguments.with_daemon,
                    "leave the contents to the running daemon, which serves them also after a "
                    "restart; ends once it has them")
          ->configurable(false);
  for (CLI::Option* option : command.get_options())
    if (option->get_group() == "Network" && option->get_name() != "--tracker")
      daemon->excludes(option);
  command
      .add_option("--socket", arguments.socket,
                  "with --daemon: where it takes commands (default: as firn daemon)")
      ->option_text("PATH")
      ->check(not_empty())
      ->needs(daemon);
  return daemon;
}

}  // namespace

void add_share_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<ShareArguments>();
  CLI::App* command = app.add_subcommand(
      "share", "share files or folders until interrupted; prints a link for each");
  command->add_option("PATH", arguments->paths, "files or folders")->required()->check(not_empty());
  CLI::Option* output =
      command
          ->add_option("-o,--output", arguments->output, "write the manifest too (one PATH only)")
          ->option_text("X.firn")
          ->configurable(false)
          ->check(not_empty());
  add_making_options(*command, arguments->making);
  add_private_options(*command, arguments->making);
  add_signing_options(*command, arguments->signing);
  CLI::Option* when_safe =
      command->add_flag("--leave-when-safe", arguments->leave_when_safe,
                        "end once the connected peers together hold the whole content");
  CLI::Option* until = add_until_option(*command, arguments->until)->excludes(when_safe);
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_origin_option(*command, arguments->origins,
                    "name this http://, https:// or s3:// URL, which has the files too, in link "
                    "and manifest (one PATH only; repeatable)");
  add_origin_access_options(*command, arguments->origins);
  add_status_options(*command, arguments->status);
  add_console_options(*command, arguments->console);
  add_daemon_options(*command, *arguments)->excludes(when_safe)->excludes(until);
  command->callback([arguments, output, &chosen] {
    if (output->count() > 0 && arguments->paths.size() > 1)
      throw CLI::ValidationError("-o", "goes with one PATH");
    if (!arguments->origins.urls.empty() && arguments->paths.size() > 1)
      throw CLI::ValidationError("--origin", "goes with one PATH");
    if (std::ranges::any_of(arguments->paths, is_url))
      throw CLI::ValidationError("a file of a web server is shared by firn get URL --share");
    chosen = run_of(arguments, run_share, arguments->paths);
  });
}

}  // namespace firn::app
