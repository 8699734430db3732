// Of a build without `firn bench`.
#include "client/app/commands/absent_command.h"

namespace firn::app {

void add_bench_command(CLI::App& app, Chosen& chosen) {
  add_absent_command(app, chosen, "bench", "bench");
}

}  // namespace firn::app
