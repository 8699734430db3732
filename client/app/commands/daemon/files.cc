// firn files CONTENT: the files of one of the daemon's contents, and which of them are chosen.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/commands/asking.h"
#include "client/app/commands/commands.h"
#include "client/app/commands/options/download_options.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/console/content_words.h"
#include "client/app/console/json_members.h"

namespace firn::app {
namespace {

struct FilesArguments : AskOptions {
  std::string content;
  content::FileChoice choice;
};

std::string listed_file(const Json& file, std::size_t digits) {
  const std::string kind = cell(file, "kind");
  return fmt::format("{} {:>{}}  {:>12}  {:>6}  {}{}", file.value("chosen", false) ? "*" : " ",
                     number_of(file, "number"), digits, kind == "file" ? size_words(file) : "-",
                     share_words(file), cell(file, "path"), kind == "folder" ? "/" : "");
}

ExitCode run(const FilesArguments& arguments, Console& console) {
  Json params = {{"content", arguments.content}};
  if (!arguments.choice.empty()) params["files"] = arguments.choice.texts();
  const auto answer = ask(arguments, "files", params);
  if (!answer.ok()) return fail(console, answer.error());
  tell_about("files", *answer, console);
  const auto files = answer->find("files");
  if (console.json() || files == answer->end()) return ExitCode::kOk;
  std::vector<std::string> rows;
  const std::size_t digits = std::to_string(files->size()).size();
  for (const Json& file : *files) rows.push_back(listed_file(file, digits));
  rows.push_back(fmt::format("* chosen: {} of {}, {}", number_of(*answer, "chosen_files"),
                             files->size(), size_words(*answer)));
  console.print(rows);
  return ExitCode::kOk;
}

}  // namespace

void add_files_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<FilesArguments>();
  CLI::App* command = app.add_subcommand(
      "files", "list the files of one of the daemon's contents, or choose others of them");
  add_content_option(*command, arguments->content)->required();
  add_choice_options(*command, arguments->choice);
  add_asking_options(*command, *arguments);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
