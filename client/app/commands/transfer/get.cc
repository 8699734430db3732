// firn get LINK|X.firn... -o DIR: download, verify, stay as long as --seed says. Or of a URL.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "client/app/commands/commands.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/download_options.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/options/origin_options.h"
#include "client/app/commands/options/publishing_options.h"
#include "client/app/commands/options/status_option.h"
#include "client/app/commands/transfer/get_to_stdout.h"
#include "client/app/commands/transfer/get_url.h"
#include "client/app/commands/transfer/planning.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/console/quantities.h"
#include "client/app/runtime/temporary_folder.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

constexpr std::string_view kToStdout = "-";  // in place of DIR

struct GetArguments {
  std::vector<std::string> sources;
  std::string dir = ".";
  bool to_stdout = false;
  std::string as;
  content::FileChoice files;
  bool overwrite = false;
  bool repair = false;
  std::string seed;
  bool no_upload = false;
  bool share = false;  // of a URL
  std::string on_complete;
  std::string timeout;
  std::string publisher;
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
  OriginOptions origins;
  StatusOptions status;
  ConsoleOptions console;
};

Result<SessionPlan> plan_of(const GetArguments& arguments, ContentSource source, Console& console) {
  auto plan =
      session_plan(std::move(source), arguments.network, arguments.publisher, arguments.dir);
  if (!plan.ok()) return plan;
  if (const Status fine = plan_origins(arguments.origins, plan->origins); !fine.ok())
    return fine.error();
  if (!arguments.seed.empty()) {
    const auto policy = parse_seed_policy(arguments.seed);
    if (!policy.ok()) return policy.error();
    plan->core.seeding = *policy;
  }
  if (arguments.no_upload) {
    plan->core.seeding = {.kind = core::SeedPolicy::Kind::kNone};
    plan->core.up_limit = core::kNoUpload;
  }
  if (plan->core.trackers.empty() && plan->core.peers.empty() && !can_come_from_origin(*plan))
    console.shared_warning(kNobodyKnown, plan->content_id);
  plan->mode = SessionPlan::Mode::kDownload;
  plan->as = arguments.as;
  plan->files = arguments.files;
  plan->to_stdout = arguments.to_stdout;
  plan->overwrite = arguments.overwrite;
  plan->repair = arguments.repair;
  plan->on_complete = arguments.on_complete;
  if (!arguments.timeout.empty()) {
    const auto timeout = parse_duration(arguments.timeout);
    if (!timeout.ok()) return timeout.error();
    plan->timeout = *timeout;
  }
  return plan;
}

// Of options for one content.
Status check_for_several(const GetArguments& arguments) {
  const char* const option = !arguments.as.empty()             ? "--as"
                             : !arguments.origins.urls.empty() ? "--origin"
                             : arguments.to_stdout             ? "-o -"
                                                               : nullptr;
  if (option == nullptr) return Done{};
  return Error{ErrorCode::kBadInput, "get several contents",
               std::string(option) + " is for one content: get the others by themselves"};
}

ExitCode run(const GetArguments& arguments, Console& console) {
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  auto sources = read_sources(arguments.sources, arguments.dir);
  if (!sources.ok()) return fail(console, sources.error());
  if (sources->size() > 1)
    if (const Status fine = check_for_several(arguments); !fine.ok())
      return fail(console, fine.error());
  auto options = driver_options(arguments.network, arguments.codec, sources->size());
  if (!options.ok()) return fail(console, options.error());
  options->stays = arguments.to_stdout;
  std::vector<SessionPlan> plans;
  for (ContentSource& source : *sources) {
    auto plan = plan_of(arguments, std::move(source), console);
    if (!plan.ok()) return fail(console, plan.error());
    for (const SessionPlan& other : plans) {
      if (!plan->manifest || !other.manifest || other.dir != plan->dir) continue;
      if (other.name() != plan->name()) continue;
      return fail(console, {ErrorCode::kExists, "get " + plan->content_id.short_text(),
                            "two contents are called " + plan->name() +
                                "; get them one by one, into a folder (-o) each"});
    }
    plans.push_back(*std::move(plan));
  }
  ExitCode code = ExitCode::kOk;
  const auto driver = start_driver(*options, console, code);
  if (!driver) return code;
  const StatusDoors status = open_status(arguments.status, *driver, console, code);
  if (status.failed) return code;
  if (arguments.to_stdout) return run_to_stdout(*driver, driver->add(plans[0]), console);
  for (SessionPlan& plan : plans) driver->add(std::move(plan));
  code = driver->run();
  if (code == ExitCode::kInterrupted)
    console.info("interrupted; the same command goes on where it stopped");
  return code;
}

ExitCode run_in_temporary_folder(const GetArguments& arguments, Console& console) {
  if (const Status pipe = check_stdout(); !pipe.ok()) return fail(console, pipe.error());
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return fail(console, folder.error());
  GetArguments inside = arguments;
  inside.dir = (*folder)->path();
  inside.to_stdout = true;
  return run(inside, console);
}

std::uint64_t lower_limit(std::uint64_t one, std::uint64_t other) {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);  // 0: none
}

Result<UrlGet> url_get_of(const GetArguments& arguments) {
  auto source = read_url(arguments.sources[0], arguments.as);
  if (!source.ok()) return source.error();
  UrlGet get;
  get.source = *std::move(source);
  get.dir = arguments.dir;
  get.as_given = !arguments.as.empty();
  get.overwrite = arguments.overwrite;
  get.on_complete = arguments.on_complete;
  get.origins = arguments.origins;
  get.reading.bytes_per_second =
      lower_limit(arguments.network.down_limit, arguments.network.content_down_limit);
  if (arguments.timeout.empty()) return get;
  const auto timeout = parse_duration(arguments.timeout);
  if (!timeout.ok()) return timeout.error();
  get.reading.timeout = std::chrono::microseconds(*timeout);
  return get;
}

ExitCode run_url(const GetArguments& arguments, Console& console) {
  const auto get = url_get_of(arguments);
  if (!get.ok()) return fail(console, get.error());
  if (arguments.dir == kToStdout) {
    if (const Status pipe = check_stdout(); !pipe.ok()) return fail(console, pipe.error());
    return get_url_to_stdout(*get, console);
  }
  if (!arguments.share) return get_url(*get, console);
  ShareArguments share;
  share.kernels = arguments.kernels;
  share.codec = arguments.codec;
  share.network = arguments.network;
  share.status = arguments.status;
  share.origins = with_origin(arguments.origins, get->source, console);
  return get_url_and_share(*get, std::move(share), console);
}

[[noreturn]] void refuse_usage(const char* why) {
  throw CLI::ValidationError(why);
}

// What says nothing about a file without a manifest.
void check_url(const GetArguments& arguments) {
  if (arguments.sources.size() > 1)
    refuse_usage("a URL is fetched by itself: get the others by themselves");
  if (!arguments.files.rules().empty())
    refuse_usage("a URL is one file: there is nothing to choose");
  if (arguments.repair)
    refuse_usage(
        "--repair needs digests, which a web server has not; --overwrite replaces the file");
  if (!arguments.publisher.empty())
    refuse_usage("--publisher is for contents: nobody signs what an ordinary web server has");
  if (!arguments.share && !arguments.origins.urls.empty())
    refuse_usage(
        "--origin is for contents, whose bytes can be checked; a URL is fetched from itself");
  if (arguments.dir != kToStdout) return;
  if (arguments.share) refuse_usage("--share needs a file, and -o - keeps none");
  if (arguments.console.json) refuse_usage("-o - and --json both write to standard output");
}

void check_together(const GetArguments& arguments) {
  if (arguments.share)
    refuse_usage("--share is for a URL; how long a content is served says --seed");
  if (arguments.dir == kToStdout && arguments.console.json)
    refuse_usage("-o - and --json both write to standard output");
}

}  // namespace

void add_get_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<GetArguments>();
  CLI::App* command =
      app.add_subcommand("get", "download; continues a download that was interrupted");
  command
      ->add_option("SOURCE", arguments->sources,
                   "links, X.link files that hold one, or manifest files (a content's link and its "
                   "manifest together are one); or the URL (https, http, s3; percent-encoded, "
                   "so %25 for '%') of one file, which is downloaded as it is, unverified")
      ->option_text("LINK|X.firn|URL")
      ->required()
      ->check(not_empty());
  command
      ->add_option("-o,--output", arguments->dir,
                   "folder to put the content into (default: the current folder); -: write one "
                   "file to standard output, in order, as it comes")
      ->option_text("DIR")
      ->configurable(false)
      ->check(not_empty());
  add_as_option(*command, arguments->as, "name for the content in DIR, instead of its own");
  add_choice_options(*command, arguments->files);
  add_replacing_options(*command, arguments->overwrite, arguments->repair);
  CLI::Option* seed =
      command
          ->add_option("--seed", arguments->seed,
                       "how long to stay when complete: none, forever, a ratio (ratio:1.5), a "
                       "duration (30m, 1h30m), until others have everything (receivers:3) or "
                       "fetch nothing (idle:10m); default: while connected peers need it, 30s at "
                       "most")
          ->option_text("HOW")
          ->check(seeding_policy);
  CLI::Option* no_upload = command
                               ->add_flag("--no-upload", arguments->no_upload,
                                          "send no blocks to other peers, and end when complete")
                               ->excludes(seed);
  command
      ->add_flag(
          "--share", arguments->share,
          "of a URL: share the file on, as firn share does, with the URL as an origin, until "
          "it is stopped")
      ->excludes(seed);
  command
      ->add_option("--on-complete", arguments->on_complete,
                   "shell command to run once every file is verified; its environment has "
                   "FIRN_CONTENT_ID, FIRN_DIR and FIRN_NAME")
      ->option_text("COMMAND")
      ->check(not_empty());
  command
      ->add_option("--timeout", arguments->timeout,
                   "end with exit code 3 after this time without progress (5m); the same command "
                   "then continues the download; default: no limit")
      ->option_text("DURATION")
      ->check(positive_duration);
  add_publisher_option(*command, arguments->publisher);
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_origin_option(*command, arguments->origins,
                    "fetch from this http://, https:// or s3:// URL what no peer has; a URL with / "
                    "at its end is a folder (repeatable)");
  add_no_origin_option(*command, arguments->origins);
  add_origin_access_options(*command, arguments->origins);
  no_upload->excludes("--content-up-limit");
  add_status_options(*command, arguments->status);
  add_console_options(*command, arguments->console);
  command->callback([arguments, &chosen] {
    if (std::ranges::any_of(arguments->sources, is_url)) {
      check_url(*arguments);
      chosen = run_of(arguments, run_url);
      return;
    }
    check_together(*arguments);
    chosen = arguments->dir == kToStdout ? run_of(arguments, run_in_temporary_folder)
                                         : run_of(arguments, run);
  });
}

}  // namespace firn::app
