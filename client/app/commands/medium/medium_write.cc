// firn medium write PATH -o MEDIUM
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/commands/medium/medium.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/making_options.h"
#include "client/app/commands/options/medium_options.h"
#include "client/app/commands/transfer/stop_request.h"
#include "client/app/console/quantities.h"
#include "client/app/medium/medium_file.h"
#include "client/app/medium/medium_writing.h"
#include "client/content/scan.h"
#include "proto/content/link.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct MediumWriteArguments {
  std::string path, output, manifest;
  MakingOptions making;
  PlanOptions plan;
  ConsoleOptions console;
};

// The manifest that was given, or one made with the plan's shape.
Result<Manifest> manifest_for(const MediumWriteArguments& arguments, const std::string& path,
                              medium::PlanRequest& request, Console& console) {
  if (!arguments.manifest.empty()) return read_manifest_file(arguments.manifest);
  std::set<std::string> excludes_used;
  auto options =
      create_options(arguments.making, default_worker_count(), "hashing", console, excludes_used);
  const auto scan = content::scan_path(path, options.scan);
  if (!scan.ok()) return scan.error();
  request.content_bytes = scan->content_bytes;
  if (options.generation_size == 0 && options.block_bytes == 0) {
    const auto plan = medium::make_plan(request);
    if (!plan.ok()) return plan.error();
    options.generation_size = plan->shape.generation_size;
    options.block_bytes = plan->shape.block_bytes;
  }
  auto manifest = content::create_manifest(path, options);
  warn_of_unused_excludes(arguments.making, excludes_used, console);
  return manifest;
}

ExitCode run(const MediumWriteArguments& arguments, Console& console) {
  auto request = plan_request(arguments.plan);
  if (!request.ok()) return fail(console, request.error());
  const StopRequest stop;
  const auto path = named_path(arguments.path);
  if (!path.ok()) return fail(console, path.error());
  // Before long work: whether anything is in the way.
  if (const auto free = MediumOutput::open(arguments.output); !free.ok())
    return fail(console, free.error());
  const auto manifest = manifest_for(arguments, *path, *request, console);
  if (!manifest.ok()) return fail_or_stop(console, manifest.error(), "nothing was written");
  request->shape = manifest->info.shape;
  request->content_bytes = manifest->info.shape.content_bytes;
  request->manifest_bytes = static_cast<std::uint32_t>(manifest->file_bytes.size());
  const auto plan = medium::make_plan(*request);
  if (!plan.ok()) return fail(console, plan.error());
  const auto bytes = write_medium(*manifest, place_of(*path), plan->label, arguments.output,
                                  {show_progress(console), StopRequest::poll()});
  if (!bytes.ok()) return fail_or_stop(console, bytes.error(), "nothing was written");
  console.clear_progress();
  console.event({{"event", "medium_written"},
                 {"content_id", manifest->id.text()},
                 {"content_bytes", request->content_bytes},
                 {"bytes", *bytes},
                 {"frames", plan->label.place_count},
                 {"frame_loss", plan->frame_loss},
                 {"content_loss", plan->content_loss}});
  console.info(fmt::format("{}: {} for {} of content", arguments.output, format_bytes(*bytes),
                           format_bytes(request->content_bytes)),
               manifest->id);
  // The link of a private content has a secret, which its manifest does not tell.
  if (!console.json() && !manifest->info.is_private)
    console.print(to_text(Link{manifest->id, {}, {}, {}}));
  return ExitCode::kOk;
}

}  // namespace

void add_medium_write(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<MediumWriteArguments>();
  CLI::App* command = app.add_subcommand("write", "put a file or folder on a medium");
  command->add_option("PATH", arguments->path, "file or folder")->required()->check(not_empty());
  command->add_option("-o,--output", arguments->output, "where to write the medium")
      ->option_text("MEDIUM")
      ->configurable(false)
      ->required()
      ->check(not_empty());
  command
      ->add_option("--manifest", arguments->manifest,
                   "keep the content's manifest and shape, so that a swarm shares them")
      ->option_text("X.firn")
      ->configurable(false);
  add_plan_options(*command, arguments->plan);
  add_making_options(*command, arguments->making);
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
