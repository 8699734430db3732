#include "client/app/commands/absent_command.h"

#include <cstdio>

namespace firn::app {

std::string absent_words(const std::string& what, const std::string& part) {
  return what + ": this firn was built without it (-D" + part +
         "=disabled); scripts/build makes one that has everything";
}

void add_absent_command(CLI::App& app, Chosen& chosen, const std::string& name,
                        const std::string& part) {
  CLI::App* command = app.add_subcommand(name, "not in this build");
  command->allow_extras();
  command->callback([name, part, &chosen] {
    chosen = [name, part] {
      std::fprintf(stderr, "firn: %s\n", absent_words("firn " + name, part).c_str());
      return ExitCode::kUsage;
    };
  });
}

}  // namespace firn::app
