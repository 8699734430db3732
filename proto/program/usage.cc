#include "proto/program/usage.h"

#include "proto/base/plain_text.h"
#include "proto/content/content_secret.h"

namespace firn {

std::string usage_error(const CLI::App& app, int argc, const char* const* argv,
                        const CLI::ParseError& error) {
  const CommandWords words(app, argc, argv);
  const std::string names = words.names();
  std::string what = words.wrong();
  if (what.empty()) what = words.at_command() ? error.what() : "a command is missing";
  what = without_secrets(what);
  if (words.at_command())
    return names + ": " + escaped(what) + "\n`" + names + " --help` shows its options.";
  const std::string program = app.get_name();
  return names + ": " + escaped(what) + "\n`" + program + " help" + names.substr(program.size()) +
         "` lists the commands.";
}

CLI::Validator not_empty() {
  return CLI::Validator([](const std::string& text) { return text.empty() ? "it is empty" : ""; },
                        "");
}

}  // namespace firn
