// firn verify LINK|X.firn DIR: read everything and compare.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "client/app/commands/commands.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/download_options.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/options/publishing_options.h"
#include "client/app/commands/transfer/find_manifest.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/commands/transfer/stop_request.h"
#include "client/app/console/quantities.h"
#include "client/content/division.h"
#include "client/content/entries_text.h"
#include "client/content/file_choice.h"
#include "client/store/advice.h"
#include "client/store/content_store.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct VerifyArguments {
  std::string source;
  std::string dir;
  std::string as;
  std::string publisher;
  NetworkOptions network;
  ConsoleOptions console;
};

std::string line_about(const store::VerifyReport::BadFile& bad) {
  std::string line = bad.fault + ": " + bad.path;
  if (bad.fault == "short" || bad.fault == "long")
    line += fmt::format(" ({} bytes instead of {})", bad.bytes_there, bad.bytes_wanted);
  return line;
}

std::string advice(const store::VerifyReport& report, const std::string& as) {
  const std::string get = "firn get" + content::as_option(as);
  if (report.unfinished)
    return "the download is not complete; " + get +
           (report.chosen.empty() ? "" : " with the same choice of files") + " goes on with it";
  if (report.absent) return std::string(store::kAbsentAdvice) + "; " + get + " fetches it";
  if (report.foreign)
    return std::string(store::kForeignAdvice) +
           "; firn get -o gets this one into another folder, " + get +
           " --repair writes this one over it";
  const bool in_the_way = std::any_of(report.bad_files.begin(), report.bad_files.end(),
                                      [](const auto& bad) { return bad.fault == "in the way"; });
  return std::string(in_the_way ? "move away what is in the way, and " : "") + get +
         " --repair fetches what is wrong";
}

ExitCode run(const VerifyArguments& arguments, Console& console) {
  auto source = read_source(arguments.source, arguments.dir);
  if (!source.ok()) return fail(console, source.error());
  if (const Status right = require_publisher(*source, arguments.publisher); !right.ok())
    return fail(console, right.error());
  if (const ExitCode found = find_manifest(arguments.network, *source, console);
      found != ExitCode::kOk)
    return found;
  const std::optional<Manifest>& manifest = source->manifest;
  store::OpenOptions options;
  options.progress = show_progress(console, "checking");
  const StopRequest stop;
  options.cancelled = StopRequest::poll();
  const content::ContentPlace place =
      found_content(manifest->info, {arguments.dir, arguments.as}, console);
  options.as = place.as;
  const std::string& name = content::top_name(manifest->info, place.as);
  const auto report = store::verify_content(*manifest, place.dir, options);
  if (!report.ok())
    return fail_or_stop(console, report.error(), "not everything was read, and nothing is proven");
  console.clear_progress();

  if (!report->warning.empty()) console.warning(report->warning, manifest->id);
  const Info& info = manifest->info;
  const std::vector<bool> wanted = content::wanted_generations(info, report->chosen);
  const std::vector<FileEntry> entries = content::chosen_entries(info, report->chosen);
  const bool all_good = report->bad_files.empty() && report->good == wanted;
  Json bad_files = Json::array();
  for (const auto& bad : report->bad_files) {
    bad_files.push_back({{"path", bad.path}, {"fault", bad.fault}});
  }
  console.event({{"event", "verified"},
                 {"content_id", manifest->id.text()},
                 {"good", all_good},
                 {"generations", std::ranges::count(wanted, true)},
                 {"generations_good", std::ranges::count(report->good, true)},
                 {"chosen_files", entries.size()},
                 {"bad_files", std::move(bad_files)}});
  if (all_good) {
    console.info(
        fmt::format("{}: {}, {}: all as the manifest says", name,
                    report->chosen.empty() ? content::entries_text(entries)
                                           : content::part_of_entries(entries.size(), info.files),
                    format_bytes(content::bytes_of(entries))),
        manifest->id);
    return ExitCode::kOk;
  }
  if (!console.json())
    for (const auto& bad : report->bad_files) console.print(line_about(bad));
  const std::string what = report->bad_files.empty()
                               ? "bytes that the chosen files share with others"
                               : content::part_of_entries(report->bad_count, entries);
  console.error("corrupt",
                fmt::format("{}: missing or different from what the manifest says: {}; {}", name,
                            what, advice(*report, place.as)),
                manifest->id);
  return ExitCode::kVerifyFailed;
}

}  // namespace

void add_verify_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = app.add_subcommand("verify", "check files against their link or manifest");
  command->add_option("SOURCE", arguments->source, "link or manifest file")
      ->option_text("LINK|X.firn")
      ->required()
      ->check(not_empty());
  command->add_option("DIR", arguments->dir, "folder that holds the content")
      ->required()
      ->check(not_empty());
  add_as_option(*command, arguments->as, "the content's name in DIR, where it is not its own");
  add_publisher_option(*command, arguments->publisher);
  add_network_options(*command, arguments->network);
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
