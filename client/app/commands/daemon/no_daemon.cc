// Of a build without `firn daemon`.
#include "client/app/commands/absent_command.h"
#include "client/app/commands/commands.h"

namespace firn::app {

void add_daemon_command(CLI::App& app, Chosen& chosen, const ReadAgain&) {
  add_absent_command(app, chosen, "daemon", "daemon");
}

}  // namespace firn::app
