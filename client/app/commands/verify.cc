// firn verify X.firn DIR: read everything and compare.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "client/app/commands/commands.h"
#include "client/app/commands/content_source.h"
#include "client/app/commands/options.h"
#include "client/app/commands/running.h"
#include "client/app/quantities.h"
#include "client/store/content_store.h"

namespace firn::app {
namespace {

struct VerifyArguments {
  std::string manifest;
  std::string dir;
  ConsoleOptions console;
};

ExitCode run(const VerifyArguments& arguments, Console& console) {
  const auto manifest = read_manifest_file(arguments.manifest);
  if (!manifest.ok()) return fail(console, manifest.error());
  store::OpenOptions options;
  options.progress = hashing_progress(console, "checking");
  const auto report = store::verify_content(*manifest, arguments.dir, options);
  if (!report.ok()) return fail(console, report.error());
  console.clear_progress();

  const auto good =
      static_cast<std::size_t>(std::count(report->good.begin(), report->good.end(), true));
  const bool all_good = report->bad_files.empty() && good == report->good.size();
  console.event({{"event", "verified"},
                 {"content_id", manifest->id.text()},
                 {"good", all_good},
                 {"generations", report->good.size()},
                 {"generations_good", good},
                 {"bad_files", report->bad_files}});
  if (all_good) {
    console.info(
        fmt::format("{}: {} files, {}: all as the manifest says", manifest->info.name,
                    manifest->info.files.size(), format_bytes(manifest->info.shape.content_bytes)),
        manifest->id);
    return ExitCode::kOk;
  }
  if (!console.json())
    for (const std::string& path : report->bad_files) console.print("bad: " + path);
  console.error(
      "corrupt",
      fmt::format("{}: {} of {} files and {} of {} generations differ from the manifest",
                  manifest->info.name, report->bad_files.size(), manifest->info.files.size(),
                  report->good.size() - good, report->good.size()),
      manifest->id);
  return ExitCode::kVerifyFailed;
}

}  // namespace

void add_verify_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = app.add_subcommand("verify", "check files against their manifest");
  command->add_option("MANIFEST", arguments->manifest, "manifest file")
      ->option_text("X.firn")
      ->required();
  command->add_option("DIR", arguments->dir, "folder in which the content stands")->required();
  add_console_options(*command, arguments->console);
  command->callback([arguments, &chosen] {
    chosen = [arguments] {
      return with_console(arguments->console,
                          [&](Console& console) { return run(*arguments, console); });
    };
  });
}

}  // namespace firn::app
