#include "client/app/commands/download_options.h"

#include "client/content/top_name.h"

namespace firn::app {
namespace {

std::string as_fault(const std::string& as) {
  const Status fine = content::check_as(as);
  return fine.ok() ? "" : fine.error().message();
}

}  // namespace

CLI::Option* add_as_option(CLI::App& command, std::string& as, const std::string& use) {
  return command.add_option("--as", as, use)
      ->option_text("NAME")
      ->configurable(false)
      ->check(as_fault);
}

void add_replacing_options(CLI::App& command, bool& overwrite, bool& repair) {
  command.add_flag("--overwrite", overwrite, "replace files in DIR that are in the way");
  command.add_flag(
      "--repair", repair,
      "restore files in DIR that are missing, too short, too long or changed; fetches and writes "
      "only what differs");
}

}  // namespace firn::app
