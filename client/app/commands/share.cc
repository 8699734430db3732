// firn share PATH...: create, announce, serve until interrupted.
#include <fmt/format.h>

#include <algorithm>

#include "client/app/commands/commands.h"
#include "client/app/commands/content_source.h"
#include "client/app/commands/making_options.h"
#include "client/app/commands/options.h"
#include "client/app/commands/own_addresses.h"
#include "client/app/commands/publishing_options.h"
#include "client/app/commands/running.h"
#include "client/app/commands/stop_request.h"
#include "client/app/runtime/worker_pool.h"
#include "client/content/create.h"
#include "proto/content/link.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

// How long the link may wait for trackers to say their ids.
constexpr core::TimeUs kLinkTime = 2 * core::kSecond;

struct ShareArguments {
  std::vector<std::string> paths;
  std::string output;
  MakingOptions making;
  SigningOptions signing;
  bool leave_when_safe = false;
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
  ConsoleOptions console;
};

// The addresses of this peer in the link. With a tracker only one that was given to be used, as the
// tracker tells where this peer is.
std::vector<Address> own_addresses(const ShareArguments& arguments, const PeerDriver& driver,
                                   bool with_tracker) {
  const std::string host = listen_address(arguments.network)->host;
  const bool given = !host.empty() && host != "*" && host != "0.0.0.0" && host != "::";
  if (with_tracker && !given) return {};
  return reachable_addresses(host, driver.listening(), interface_addresses());
}

// What one PATH became.
struct Shared {
  ContentSession* session = nullptr;
  std::optional<ContentSecret> secret;  // of a private content
};

Result<SessionPlan> plan_of(const ShareArguments& arguments, const std::string& path,
                            const Signer& signer, const PeerId& self,
                            std::set<std::string>& excludes_used,
                            std::optional<ContentSecret>& secret, Console& console) {
  auto trackers = parse_addresses(arguments.network.trackers);
  if (!trackers.ok()) return trackers.error();
  auto options = create_options(arguments.making, arguments.codec.threads, "hashing " + path,
                                console, excludes_used);
  options.trackers = *trackers;
  options.authority = [&](const Info& info) { return signer.authority_for(info); };
  const auto named = named_path(path);
  if (!named.ok()) return named.error();
  auto made = content::create_manifest(*named, options);
  if (!made.ok()) return made.error();
  auto manifest = signer.sign(*std::move(made));
  if (!manifest.ok()) return manifest.error();
  if (!arguments.output.empty()) {
    const Status written = OutputFile(arguments.output, kManifestFile).write(manifest->file_bytes);
    if (!written.ok()) return written.error();
  }
  auto core = core_options(arguments.network, {}, {});
  if (!core.ok()) return core.error();
  auto certificate = signer.certificate(*manifest, self);
  if (!certificate.ok()) return certificate.error();
  core->certificate = *std::move(certificate);
  secret = secret_for(arguments.making, signer, manifest->id);
  SessionPlan plan;
  if (secret) plan.keys = std::make_shared<const privacy::PrivateKeys>(*secret, manifest->id);
  plan.mode = SessionPlan::Mode::kServe;
  plan.content_id = manifest->id;
  plan.manifest = *std::move(manifest);
  plan.dir = folder_of(*named);
  plan.trust = true;  // it has just been read
  plan.offer_manifest = true;
  plan.core = *std::move(core);
  using Kind = core::SeedPolicy::Kind;
  plan.core.seeding.kind = arguments.leave_when_safe ? Kind::kWhenSafe : Kind::kForever;
  return plan;
}

// No file that this command writes, and no secret, is part of what is shared.
Status check_apart(const ShareArguments& arguments, const std::string& path) {
  const OutputFile output(arguments.output, kManifestFile);
  const OutputFile identity(arguments.network.identity_file, kKeyFile);
  Status apart = output.path().empty() ? Done{} : check_output(output, path);
  if (apart.ok() && !identity.path().empty()) apart = identity.check_apart(path);
  return apart.ok() ? check_key_apart(arguments.signing, path) : apart;
}

std::vector<std::string> links_of(const ShareArguments& arguments, const PeerDriver& driver,
                                  const Signer& signer, const std::vector<Shared>& shared) {
  std::vector<std::string> links;
  for (const auto& [session, secret] : shared) {
    const auto trackers = session->trackers().addresses();
    links.push_back(to_text(Link{session->plan().content_id, trackers,
                                 own_addresses(arguments, driver, !trackers.empty()),
                                 signer.publisher(), secret}));
  }
  return links;
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

ExitCode run(const ShareArguments& arguments, Console& console) {
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  auto options = driver_options(arguments.network, arguments.codec, arguments.paths.size());
  if (!options.ok()) return fail(console, options.error());
  options->only_serves = true;
  for (const std::string& path : arguments.paths)
    if (const Status apart = check_apart(arguments, path); !apart.ok())
      return fail(console, apart.error());
  const auto signer = Signer::for_making(arguments.signing, console);
  if (!signer.ok()) return fail(console, signer.error());
  const StopRequest stop;
  ExitCode code = ExitCode::kOk;
  const auto driver = start_driver(*options, console, code);
  if (!driver) return code;

  console.hold_events();
  std::vector<Shared> shared;
  std::set<std::string> excludes_used;
  for (const std::string& path : arguments.paths) {
    std::optional<ContentSecret> secret;
    auto plan = plan_of(arguments, path, *signer, driver->id(), excludes_used, secret, console);
    if (!plan.ok()) return fail_or_stop(console, plan.error(), "nothing was shared or written");
    for (const Shared& other : shared)
      if (other.session->plan().content_id == plan->content_id)
        return fail(console, {ErrorCode::kBadInput, "share " + path, "the same content twice"});
    shared.push_back({&driver->add(*std::move(plan)), secret});
  }
  warn_of_unused_excludes(arguments.making, excludes_used, console);
  console.clear_progress();
  if (shared.front().session->plan().core.trackers.empty())
    console.warning(
        "no tracker: only peers that know an address of this one can follow. The link names those "
        "of this machine; --tracker makes it work from everywhere");
  bool told = false, refused = false;
  core::TimeUs due = core::kNever;
  driver->on_turn([&](core::TimeUs now) {
    if (stop.requested()) driver->stop();  // it came before the loop took signals
    if (told) return core::kNever;
    if (due == core::kNever) due = now + kLinkTime;
    const bool heard = std::all_of(shared.begin(), shared.end(), [](const Shared& one) {
      return one.session->running() && one.session->trackers().announced();
    });
    if (!heard && now < due) return due;
    told = true;
    refused = end_refused(shared, console);
    console.print(links_of(arguments, *driver, *signer, shared));
    if (console.output_failed()) driver->stop();  // nobody learns of the links
    return core::kNever;
  });
  code = driver->run();
  return refused ? ExitCode::kNetwork : code;
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
  command->add_flag("--leave-when-safe", arguments->leave_when_safe,
                    "end once the connected peers together hold the whole content");
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_console_options(*command, arguments->console);
  command->callback([arguments, output, &chosen] {
    if (output->count() > 0 && arguments->paths.size() > 1)
      throw CLI::ValidationError("-o", "goes with one PATH");
    chosen = run_of(arguments, run, arguments->paths);
  });
}

}  // namespace firn::app
