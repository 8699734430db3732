// firn limit, priority, queue: what bounds a running `firn daemon` and its contents, and which of
// them go first.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/commands/asking.h"
#include "client/app/commands/commands.h"
#include "client/app/commands/options/limit_options.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/console/content_words.h"
#include "client/app/console/json_members.h"
#include "client/app/console/quantities.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct LimitArguments : AskOptions {
  std::string content;
  LimitTexts limits;
};

// Of priority and queue.
struct PlaceArguments : AskOptions {
  std::string method;
  std::string content;
  std::string place;
};

// What holds now.
std::string limits_line(const Json& answer) {
  const double seconds = number_of(answer, "seed_time");
  return fmt::format("{}, seed ratio {}, seed time {}", limits_words(answer),
                     number_of(answer, "seed_ratio") > 0 ? cell(answer, "seed_ratio") : "none",
                     seconds > 0 ? format_seconds(seconds) : "none");
}

ExitCode run(const LimitArguments& arguments, Console& console) {
  const LimitChange limits = limits_of(arguments.limits).value();  // its options have checked them
  const bool asks = limits.empty();
  Json params = Json::object();
  if (!arguments.content.empty()) params["content"] = arguments.content;
  add_limit_params(limits, params);
  const char* const method = !asks ? "limit" : arguments.content.empty() ? "status" : "show";
  const auto answer = ask(arguments, method, params);
  if (!answer.ok()) return fail(console, answer.error());
  tell_about(arguments.content.empty() ? "status" : "content", *answer, console);
  if (!console.json() && asks) console.print(limits_line(*answer));
  return ExitCode::kOk;
}

ExitCode run(const PlaceArguments& arguments, Console& console) {
  const char* const name = arguments.method == "queue" ? "to" : "priority";
  const auto answer =
      ask(arguments, arguments.method, {{"content", arguments.content}, {name, arguments.place}});
  if (!answer.ok()) return fail(console, answer.error());
  tell_about("content", *answer, console);
  return ExitCode::kOk;
}

void add_place_command(CLI::App& app, Chosen& chosen, const char* name, const char* what,
                       const std::vector<std::string>& places) {
  auto arguments = std::make_shared<PlaceArguments>();
  arguments->method = name;
  CLI::App* command = app.add_subcommand(name, what);
  add_content_option(*command, arguments->content)->required();
  command->add_option("PLACE", arguments->place, "where it goes")
      ->option_text(fmt::format("{}", fmt::join(places, "|")))
      ->required()
      ->check(CLI::IsMember(places).description(""));
  add_asking_options(*command, *arguments);
  on_command(*command, arguments, chosen, run);
}

}  // namespace

void add_limit_commands(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<LimitArguments>();
  CLI::App* command = app.add_subcommand(
      "limit", "bound what the daemon sends and receives for a content, or for all together");
  add_content_option(*command, arguments->content);
  add_rate_options(*command, arguments->limits);
  add_goal_options(*command, arguments->limits, ", none, or default");
  add_asking_options(*command, *arguments);
  on_command(*command, arguments, chosen, run);
  add_place_command(app, chosen, "priority", "say which of the daemon's contents go first",
                    {"high", "normal", "low"});
  add_place_command(app, chosen, "queue", "move a content among those of its priority",
                    {"first", "up", "down", "last"});
}

}  // namespace firn::app
