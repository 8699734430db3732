// firn add, list, show, pause, resume, move, remove: what a running `firn daemon` is asked.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/commands/asking.h"
#include "client/app/commands/commands.h"
#include "client/app/commands/daemon/content_lines.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/download_options.h"
#include "client/app/commands/options/limit_options.h"
#include "client/app/commands/options/origin_options.h"
#include "client/app/commands/options/publishing_options.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/console/content_words.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct AddArguments : AskOptions {
  std::string source;
  std::string folder;
  std::string seeding = "forever";
  bool serve = false;
  bool trust = false;
  LimitTexts limits;
  std::string priority = "normal";
  std::string as;
  bool overwrite = false;
  bool repair = false;
  bool paused = false;
  bool no_upload = false;
  content::FileChoice files;
  std::string publisher;
  OriginOptions origins;
};

struct ListArguments : AskOptions {};

// Of show, pause, resume, move and remove.
struct OneArguments : AskOptions {
  std::string method;
  std::string content;
  std::string folder, as;  // of move
  bool delete_data = false;
  bool afresh = false;  // of resume
};

// The limits of all contents together.
std::string limits_row(const Json& listed) {
  const std::string schedule = cell(listed, "schedule");
  return "limits: " + limits_words(listed) +
         (schedule == "-" ? "" : " (schedule " + schedule + ")");
}

ExitCode run(const AddArguments& arguments, Console& console) {
  // Read here first: a mistyped path or link is told without a daemon, and a path is the caller's.
  auto source = read_source(arguments.source);
  if (!source.ok()) return fail(console, source.error());
  if (const Status right = require_publisher(*source, arguments.publisher); !right.ok())
    return fail(console, right.error());
  Json params = {{"source", source->from_file ? absolute(arguments.source) : arguments.source},
                 {"serve", arguments.serve},
                 {"seeding", arguments.no_upload ? "none" : arguments.seeding},
                 {"trust", arguments.trust}};
  // A link asks the daemon for the same key.
  if (!arguments.publisher.empty())
    params[source->from_file ? "link" : "source"] =
        to_text(Link{source->content_id, source->trackers, source->peers, source->publisher,
                     source->secret, source->origins});
  // What is served stands here; what is downloaded goes where the daemon puts downloads.
  if (!arguments.folder.empty() || arguments.serve)
    params["folder"] = absolute(arguments.folder.empty() ? "." : arguments.folder);
  add_limit_params(limits_of(arguments.limits).value(), params);
  if (arguments.no_upload) params["up"] = core::kNoUpload;
  params["priority"] = arguments.priority;
  if (!arguments.as.empty()) params["as"] = arguments.as;
  for (const auto& [name, given] : {std::pair("overwrite", arguments.overwrite),
                                    {"repair", arguments.repair},
                                    {"paused", arguments.paused}})
    if (given) params[name] = true;
  if (!arguments.files.empty()) params["files"] = arguments.files.texts();
  if (!arguments.origins.urls.empty()) params["origins"] = arguments.origins.urls;
  if (arguments.origins.none) params["no_origin"] = true;
  const auto added = ask(arguments, "add", params);
  if (!added.ok()) return fail(console, added.error());
  tell_about("content", *added, console);
  if (cell(*added, "state") == "failed")
    return fail(console, {ErrorCode::kExists, "added, and failed: " + cell(*added, "failure"), ""});
  if (arguments.folder.empty() && !arguments.serve)
    console.info(cell(*added, "name") + " goes into " + cell(*added, "folder"));
  if (!console.json()) console.print(cell(*added, "content_id"));
  return ExitCode::kOk;
}

ExitCode run(const ListArguments& arguments, Console& console) {
  const auto listed = ask(arguments, "list", Json());
  if (!listed.ok()) return fail(console, listed.error());
  tell_about("contents", *listed, console);
  if (console.json()) return ExitCode::kOk;
  std::vector<std::string> rows = {list_head()};
  if (const auto contents = listed->find("contents"); contents != listed->end())
    for (const Json& content : *contents) rows.push_back(list_row(content));
  const bool empty = rows.size() == 1;
  if (has_limits(*listed)) rows.push_back(limits_row(*listed));
  console.print(rows);
  if (empty)
    console.info(
        "there is no content yet: firn add LINK downloads one, firn share --daemon PATH shares "
        "one");
  return ExitCode::kOk;
}

ExitCode run(const OneArguments& arguments, Console& console) {
  Json params = {{"content", arguments.content}};
  if (arguments.method == "resume") params["afresh"] = arguments.afresh;
  if (arguments.method == "remove") params["delete_data"] = arguments.delete_data;
  if (arguments.method == "move") params["folder"] = absolute(arguments.folder);
  if (!arguments.as.empty()) params["as"] = arguments.as;
  const auto answer = ask(arguments, arguments.method, params);
  if (!answer.ok()) return fail(console, answer.error());
  tell_about("content", *answer, console);
  if (!console.json() && arguments.method == "show") console.print(shown_lines(*answer));
  if (!console.json() && arguments.method == "remove" && !arguments.delete_data)
    if (const std::string left = left_behind(*answer); !left.empty()) console.info(left);
  return ExitCode::kOk;
}

void add_add_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<AddArguments>();
  CLI::App* command = app.add_subcommand("add", "give the daemon a content to download or serve");
  command->add_option("SOURCE", arguments->source, "link or manifest file")
      ->option_text("LINK|X.firn")
      ->required()
      ->check(not_empty());
  command
      ->add_option("-o,--output", arguments->folder,
                   "folder to put the content into (default: the daemon's --download-dir; with "
                   "--serve the current folder)")
      ->option_text("DIR")
      ->configurable(false)
      ->check(not_empty());
  CLI::Option* serve =
      command->add_flag("--serve", arguments->serve, "the content stands in DIR: serve it")
          ->configurable(false);
  command
      ->add_flag("--trust", arguments->trust,
                 "with --serve: files of the right sizes and times need not be read first")
      ->configurable(false)
      ->needs(serve);
  CLI::Option* seed =
      command
          ->add_option("--seed", arguments->seeding,
                       "how long to stay when complete, as for get (default: forever)")
          ->option_text("HOW")
          ->check(seeding_policy);
  command
      ->add_option("--priority", arguments->priority,
                   "before or after others where the daemon has a place for one (default: normal)")
      ->option_text("high|normal|low")
      ->configurable(false)
      ->check(CLI::IsMember({"high", "normal", "low"}).description(""));
  add_as_option(*command, arguments->as, "name for the content in DIR, instead of its own");
  add_replacing_options(*command, arguments->overwrite, arguments->repair);
  add_choice_options(*command, arguments->files);
  add_publisher_option(*command, arguments->publisher);
  add_origin_option(*command, arguments->origins,
                    "let the daemon fetch from this http://, https:// or s3:// URL what no peer "
                    "has (repeatable)");
  add_no_origin_option(*command, arguments->origins);
  command->add_flag("--paused", arguments->paused, "leave it alone until resume")
      ->configurable(false);
  add_rate_options(*command, arguments->limits);
  add_goal_options(*command, arguments->limits, ", none, or default: as the daemon");
  command
      ->add_flag("--no-upload", arguments->no_upload,
                 "send no blocks of it to other peers, and stop when complete")
      ->configurable(false)
      ->excludes(seed)
      ->excludes("--up");
  add_asking_options(*command, *arguments);
  on_command(*command, arguments, chosen, run);
}

CLI::App* add_one_command(CLI::App& app, Chosen& chosen, const char* name, const char* what,
                          const std::shared_ptr<OneArguments>& arguments) {
  arguments->method = name;
  CLI::App* command = app.add_subcommand(name, what);
  add_content_option(*command, arguments->content)->required();
  add_asking_options(*command, *arguments);
  on_command(*command, arguments, chosen, run);
  return command;
}

}  // namespace

void add_content_commands(CLI::App& app, Chosen& chosen) {
  add_add_command(app, chosen);
  auto listing = std::make_shared<ListArguments>();
  CLI::App* command = app.add_subcommand("list", "list the daemon's contents");
  add_asking_options(*command, *listing);
  on_command(*command, listing, chosen, run);
  const auto one = [&](const char* name, const char* what) {
    return add_one_command(app, chosen, name, what, std::make_shared<OneArguments>());
  };
  one("show", "show how one of the daemon's contents stands");
  one("pause", "let the daemon leave a content alone until resume");
  auto resuming = std::make_shared<OneArguments>();
  add_one_command(app, chosen, "resume",
                  "let the daemon go on with a content that was paused, failed or finished",
                  resuming)
      ->add_flag("--afresh", resuming->afresh,
                 "begin again a download that waits for its folder, as what it had is lost")
      ->configurable(false);
  auto moving = std::make_shared<OneArguments>();
  CLI::App* const move = add_one_command(
      app, chosen, "move", "move a content's files to another folder, and go on there", moving);
  move->add_option("DIR", moving->folder, "folder to put the content into")
      ->option_text("DIR")
      ->required()
      ->check(not_empty());
  add_as_option(*move, moving->as, "name for the content in DIR, instead of the one it has");
  auto removing = std::make_shared<OneArguments>();
  add_one_command(app, chosen, "remove", "make the daemon forget a content", removing)
      ->add_flag("--delete-data", removing->delete_data, "delete its files too")
      ->configurable(false);
}

}  // namespace firn::app
