// firn help [COMMAND]: what --help shows.
#include "client/app/commands/commands.h"

namespace firn::app {

void add_help_command(CLI::App& app) {
  app.add_subcommand("help", "show the help of firn or of a command")
      ->add_option_function<std::string>(
          "COMMAND", [](const std::string&) {}, "such as get, or bench codec")
      ->option_text("...");
}

}  // namespace firn::app
