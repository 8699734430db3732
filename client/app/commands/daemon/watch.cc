// firn watch DIR: the folders from which the daemon adds what appears in them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/commands/asking.h"
#include "client/app/commands/commands.h"
#include "client/app/commands/transfer/running.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct WatchArguments : AskOptions {
  std::string folder;
  std::string output;
  bool list = false;
  bool remove = false;
};

Result<Json> ask_for(const WatchArguments& arguments) {
  if (arguments.list) return ask(arguments, "watches", Json());
  const Json folder = absolute(arguments.folder);
  if (arguments.remove) return ask(arguments, "unwatch", {{"folder", folder}});
  Json params = {{"folder", folder}};
  if (!arguments.output.empty()) params["output"] = absolute(arguments.output);
  return ask(arguments, "watch", params);
}

ExitCode run(const WatchArguments& arguments, Console& console) {
  const auto answer = ask_for(arguments);
  if (!answer.ok()) return fail(console, answer.error());
  tell_about("watched", *answer, console);
  if (console.json() || !arguments.list) return ExitCode::kOk;
  if (const auto folders = answer->find("folders"); folders != answer->end())
    for (const Json& one : *folders)
      console.print(cell(one, "folder") + " -> " + cell(one, "output"));
  return ExitCode::kOk;
}

}  // namespace

void add_watch_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<WatchArguments>();
  CLI::App* command = app.add_subcommand(
      "watch", "let the daemon add the .firn and .link files that appear in a folder");
  CLI::Option* folder =
      command->add_option("DIR", arguments->folder, "folder to watch; a .link file holds links")
          ->option_text("DIR")
          ->check(not_empty());
  command
      ->add_option("-o,--output", arguments->output,
                   "folder to put the contents into (default: the daemon's --download-dir)")
      ->option_text("DIR")
      ->configurable(false)
      ->check(not_empty());
  CLI::Option* list =
      command->add_flag("--list", arguments->list, "show the folders that are watched")
          ->configurable(false)
          ->excludes(folder);
  command->add_flag("--remove", arguments->remove, "watch DIR no longer")
      ->configurable(false)
      ->excludes(list);
  add_asking_options(*command, *arguments);
  command->callback([arguments, folder, &chosen] {
    if (!arguments->list && folder->count() == 0)
      throw CLI::ValidationError("DIR", "is missing: name a folder, or give --list");
    chosen = run_of(arguments, run);
  });
}

}  // namespace firn::app
