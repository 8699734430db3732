// firn help [COMMAND]: what --help shows.
#include "client/app/commands/commands.h"
#include "client/app/commands/running.h"
#include "proto/program/usage.h"

namespace firn::app {

void add_help_command(CLI::App& app, Chosen& chosen) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "show the help of firn or of a command");
  command->add_option("COMMAND", *words, "such as get, or bench codec")->option_text("...");
  command->callback([words, &app, &chosen] {
    const CLI::App* about = &app;
    std::string names = app.get_name();
    for (const std::string& word : *words) {
      const CLI::App* found = command_of(*about, word);
      if (found == nullptr) throw CLI::ValidationError(unknown_command(*about, word));
      names += " " + word;
      about = found;
    }
    // App::help() would show the help of the command on the command line, which is this one.
    const std::string text =
        about->get_formatter()->make_help(about, names, CLI::AppFormatMode::Normal);
    chosen = [text] { return print_alone(text); };
  });
}

}  // namespace firn::app
