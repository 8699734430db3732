// firn medium scrub MEDIUM -o NEW: read, and write anew with all its spare rows.
#include <fmt/format.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "client/app/commands/medium/medium.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/medium_options.h"
#include "client/app/commands/transfer/stop_request.h"
#include "client/app/console/quantities.h"
#include "client/app/medium/medium_file.h"
#include "client/app/medium/medium_writing.h"
#include "client/store/posix_files.h"
#include "client/store/work_folder.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct MediumScrubArguments {
  std::string input, output;
  unsigned threads = default_worker_count();
  ConsoleOptions console;
};

// The content's name while it stands there; no stranger's.
constexpr const char* kScrubbed = "content";

std::string lock_of(const std::string& work) {
  return work + ".lock";
}

// The work folder is one process's at a time.
Result<std::unique_ptr<store::Lock>> take_turn(store::Files& files, const std::string& work,
                                               const std::string& output) {
  if (Status made = store::make_folders(files, store::WorkFolder::kParent); !made.ok())
    return made.error();
  auto lock = files.lock(lock_of(work));
  if (lock.ok() && !*lock)
    return Error{ErrorCode::kExists, "write " + output, "another process is scrubbing to it"};
  return lock;
}

// What an unfinished scrub goes on from stays.
void end_turn(store::Files& files, const std::string& work) {
  (void)files.remove(lock_of(work));
  (void)files.remove_folder(store::WorkFolder::kParent);
}

ExitCode run(const MediumScrubArguments& arguments, Console& console) {
  if (const auto free = MediumOutput::open(arguments.output); !free.ok())
    return fail(console, free.error());
  // The content stands here between reading and writing, and a scrub that is ended goes on from it.
  const std::string folder = folder_of(arguments.output);
  const std::string work = std::string(store::WorkFolder::kParent) + "/scrub-" +
                           std::filesystem::path(arguments.output).filename().string();
  auto files = store::open_posix_files(folder, false);
  if (!files.ok()) return fail(console, files.error());
  const auto lock = take_turn(**files, work, arguments.output);
  if (!lock.ok()) return fail(console, lock.error());
  MediumReadRequest request;
  request.input = arguments.input;
  request.dir = folder + "/" + work;
  request.as = kScrubbed;
  request.threads = arguments.threads;
  const MediumRead read = read_medium(request, console);
  if (read.code != ExitCode::kOk) {
    end_turn(**files, work);
    return read.code;
  }
  const StopRequest stop;
  const auto bytes = write_medium(*read.manifest, {request.dir, request.as}, *read.label,
                                  arguments.output, {show_progress(console), StopRequest::poll()});
  if (!bytes.ok()) return fail_or_stop(console, bytes.error(), "nothing was written");
  if (const Status gone = store::remove_tree(**files, work); !gone.ok())
    return fail(console, gone.error());
  end_turn(**files, work);
  console.clear_progress();
  console.event(
      {{"event", "medium_written"}, {"content_id", read.manifest->id.text()}, {"bytes", *bytes}});
  console.info(
      fmt::format("{}: {}, with all its spare rows", arguments.output, format_bytes(*bytes)),
      read.manifest->id);
  return ExitCode::kOk;
}

}  // namespace

void add_medium_scrub(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<MediumScrubArguments>();
  CLI::App* command =
      app.add_subcommand("scrub", "read a medium and write it anew, with all its spare rows");
  command->add_option("MEDIUM", arguments->input, "medium file")->required()->check(not_empty());
  command->add_option("-o,--output", arguments->output, "where to write the new medium")
      ->option_text("NEW")
      ->configurable(false)
      ->required()
      ->check(not_empty());
  command->add_option("--threads", arguments->threads, "default: a thread for each core")
      ->check(between(1, 1024));
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
