// firn page: where a browser finds the daemon's page.
#include <nlohmann/json.hpp>

#include "client/app/commands/asking.h"
#include "client/app/commands/commands.h"
#include "client/app/commands/transfer/running.h"

namespace firn::app {
namespace {

struct PageArguments : AskOptions {};

ExitCode run(const PageArguments& arguments, Console& console) {
  const auto answer = ask(arguments, "page", Json());
  if (!answer.ok()) return fail(console, answer.error());
  tell_about("page", *answer, console);
  // A browser keeps what follows '#' to itself.
  if (!console.json()) console.print(cell(*answer, "url") + "#token=" + cell(*answer, "token"));
  return ExitCode::kOk;
}

}  // namespace

void add_page_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<PageArguments>();
  CLI::App* command = app.add_subcommand(
      "page", "print the address of the daemon's page, with the token; opens the page first");
  add_asking_options(*command, *arguments);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
