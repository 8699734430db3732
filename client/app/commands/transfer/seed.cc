// firn seed LINK|X.firn DIR [LINK2|Y.firn DIR2]...: serve what stands in DIR until interrupted.
// firn seed [LINK|X.firn] --from-medium FILE ...: the same for what media hold (seed_media.h).
#include "client/app/commands/commands.h"
#include "client/app/commands/medium/seed_media.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/download_options.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/options/origin_options.h"
#include "client/app/commands/options/own_addresses.h"
#include "client/app/commands/options/publishing_options.h"
#include "client/app/commands/options/status_option.h"
#include "client/app/commands/options/until_option.h"
#include "client/app/commands/transfer/planning.h"
#include "client/app/commands/transfer/running.h"
#include "proto/content/link.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct SeedArguments {
  std::vector<std::string> pairs;  // LINK or X.firn, DIR, ...; of media the first alone, if any
  std::vector<std::string> media;
  std::string dir = ".";  // for what media hold
  std::string as;
  bool trust = false;
  std::string until;
  SigningOptions signing;
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
  OriginOptions origins;
  StatusOptions status;
  ConsoleOptions console;
};

Result<SessionPlan> plan_of(const SeedArguments& arguments, const Signer& signer,
                            const std::string& text, const std::string& dir,
                            const core::SeedPolicy& seeding, Console& console) {
  auto source = read_source(text, dir);
  if (!source.ok()) return source.error();
  if (source->manifest && source->manifest->info.is_private && !source->secret)
    source->secret = signer.own_secret(*source->manifest);
  auto plan = session_plan(*std::move(source), arguments.network, {}, dir);
  if (!plan.ok()) return plan;
  if (const Status fine = plan_origins(arguments.origins, plan->origins); !fine.ok())
    return fine.error();
  if (!plan->manifest && plan->core.trackers.empty() && plan->core.peers.empty())
    console.shared_warning(kNobodyKnown, plan->content_id);
  content::ContentPlace place{dir, arguments.as};
  if (plan->manifest) place = found_content(plan->manifest->info, place, console);
  plan->dir = place.dir;
  plan->as = place.as;
  plan->mode = SessionPlan::Mode::kServe;
  plan->trust = arguments.trust;
  plan->offer_manifest = true;
  plan->core.seeding = seeding;
  return plan;
}

// Lets this process speak for the content's authority where the signer may.
Status vouch(const Signer& signer, const PeerId& self, SessionPlan& plan) {
  if (!plan.manifest) {  // its authority is not known yet
    plan.certificate_for = [signer, self](const Manifest& manifest) {
      const auto certificate = signer.certificate(manifest, self);
      return certificate.ok() ? *certificate : std::string();
    };
    return Done{};
  }
  auto certificate = signer.certificate(*plan.manifest, self);
  if (!certificate.ok()) return certificate.error();
  plan.core.certificate = *std::move(certificate);
  return Done{};
}

// Every certificate that was given is to be of use: else it is for another peer or content.
Status check_certificates(const Signer& signer, const PeerId& self,
                          const std::vector<SessionPlan>& plans) {
  std::vector<const Manifest*> contents;
  for (const SessionPlan& plan : plans) {
    if (!plan.manifest) return Done{};  // it may be for that
    contents.push_back(&*plan.manifest);
  }
  return signer.check_given(contents, self);
}

// Puts the origins of --origin into the plan's manifest, if that is known. The link for others that
// names them; empty: there are none, or the content is private.
Result<std::string> publish_origins(const SeedArguments& arguments, const Signer& signer,
                                    const Address& listening, SessionPlan& plan) {
  const auto urls = origins_to_publish(arguments.origins);
  if (!urls.ok()) return urls.error();
  if (plan.manifest) {
    auto named = with_more_origins(*plan.manifest, *urls, signer);
    if (!named.ok()) return named.error();
    plan.manifest = *std::move(named);
  }
  if (urls->empty() || plan.keys) return std::string();
  const auto publisher = plan.core.publisher ? plan.core.publisher : signer.publisher();
  return to_text(Link{plan.content_id,
                      plan.core.trackers,
                      link_addresses(arguments.network, listening),
                      publisher,
                      {},
                      *urls});
}

ExitCode run(const SeedArguments& arguments, Console& console) {
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  if (!arguments.media.empty()) {
    if (!arguments.status.page.empty() || !arguments.status.metrics.empty())
      throw CLI::ValidationError("--status and --metrics do not go with --from-medium");
    const std::string source = arguments.pairs.empty() ? "" : arguments.pairs.front();
    return seed_from_media({arguments.media, source, arguments.dir, arguments.as, arguments.signing,
                            arguments.codec, arguments.network, arguments.origins},
                           console);
  }
  auto options = driver_options(arguments.network, arguments.codec, arguments.pairs.size() / 2);
  if (!options.ok()) return fail(console, options.error());
  options->only_serves = true;
  const auto seeding = read_until(arguments.until);
  if (!seeding.ok()) return fail(console, seeding.error());
  const auto signer = Signer::for_serving(arguments.signing);
  if (!signer.ok()) return fail(console, signer.error());
  std::vector<SessionPlan> plans;
  for (std::size_t i = 0; i < arguments.pairs.size(); i += 2) {
    auto plan =
        plan_of(arguments, *signer, arguments.pairs[i], arguments.pairs[i + 1], *seeding, console);
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
  const StatusDoors status = open_status(arguments.status, *driver, console, code);
  if (status.failed) return code;
  for (SessionPlan& plan : plans)
    if (const Status vouched = vouch(*signer, driver->id(), plan); !vouched.ok())
      return fail(console, vouched.error());
  if (const Status fit = check_certificates(*signer, driver->id(), plans); !fit.ok())
    return fail(console, fit.error());
  for (SessionPlan& plan : plans) {
    const auto link = publish_origins(arguments, *signer, driver->listening(), plan);
    if (!link.ok()) return fail(console, link.error());
    if (!link->empty() && !console.json()) console.print(*link);
  }
  for (SessionPlan& plan : plans) driver->add(std::move(plan));
  return driver->run();
}

// What the options' own checks do not find.
void check_usage(const SeedArguments& arguments) {
  if (!arguments.signing.certificates.empty() && arguments.network.identity_file.empty())
    throw CLI::ValidationError("--certificate needs --identity, the key of the peer it is for");
  if (!arguments.media.empty()) {
    if (arguments.pairs.size() > 1)
      throw CLI::ValidationError(
          "--from-medium goes with one link or manifest at most, and with "
          "one FILE each time that it "
          "is given; -o names the folder");
  } else if (arguments.pairs.empty()) {
    throw CLI::ValidationError("a link or manifest and its folder, or --from-medium, is required");
  } else if (arguments.pairs.size() % 2 != 0) {
    throw CLI::ValidationError("each link or manifest needs its folder: LINK DIR [LINK2 DIR2]");
  } else if (arguments.pairs.size() > 2 && !arguments.as.empty()) {
    throw CLI::ValidationError("--as is for one content: name the others by their own paths");
  } else if (arguments.pairs.size() > 2 && !arguments.origins.urls.empty()) {
    throw CLI::ValidationError("--origin is for one content: seed the others by themselves");
  }
}

void add_media_options(CLI::App& command, SeedArguments& arguments, CLI::Option* trust) {
  CLI::Option* media =
      command
          .add_option(
              "--from-medium", arguments.media,
              "serve what this medium of a content holds (firn medium), and take from the swarm "
              "what it lacks (repeatable); LINK|X.firn is optional then")
          ->option_text("FILE")
          ->configurable(false)
          ->check(not_empty())
          ->excludes(trust);
  command
      .add_option("-o,--output", arguments.dir,
                  "folder for the content of media (default: the current folder)")
      ->option_text("DIR")
      ->configurable(false)
      ->check(not_empty())
      ->needs(media);
}

}  // namespace

void add_seed_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<SeedArguments>();
  CLI::App* command = app.add_subcommand(
      "seed", "serve finished contents, or what media hold of one, until interrupted");
  command
      ->add_option(
          "PAIRS", arguments->pairs,
          "a link or manifest file, and the folder that holds the content; more such pairs")
      ->option_text("LINK|X.firn DIR ...")
      ->check(not_empty());
  CLI::Option* trust = command->add_flag(
      "--trust", arguments->trust,
      "check only the sizes of the files at the start, and bytes when they are sent");
  add_media_options(*command, *arguments, trust);
  command->get_option("--from-medium")->excludes(add_until_option(*command, arguments->until));
  add_as_option(*command, arguments->as, "the content's name in DIR, where it is not its own");
  add_sign_option(*command, arguments->signing);
  add_certificate_option(*command, arguments->signing);
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_origin_option(*command, arguments->origins,
                    "this http://, https:// or s3:// URL has the content's files too: print a link "
                    "that names it, and with the publisher's key (--sign) tell peers; with "
                    "--from-medium: fetch from it what the swarm lacks (repeatable)");
  add_no_origin_option(*command, arguments->origins);
  add_origin_access_options(*command, arguments->origins);
  add_status_options(*command, arguments->status);
  add_console_options(*command, arguments->console);
  command->callback([arguments, &chosen] {
    check_usage(*arguments);
    chosen = run_of(arguments, run);
  });
}

}  // namespace firn::app
