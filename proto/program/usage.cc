#include "proto/program/usage.h"

#include "proto/base/plain_text.h"
#include "proto/content/content_secret.h"

namespace firn {

std::string usage_error(const CommandWords& words, const CLI::ParseError& error) {
  const std::string names = words.names();
  std::string what = error.what();
  if (words.wrong().empty() && !words.at_command()) what = "a command is missing";
  what = without_secrets(what);
  if (words.at_command())
    return names + ": " + escaped(what) + "\n`" + names + " --help` shows its options.";
  const std::string program = words.program().get_name();
  return names + ": " + escaped(what) + "\n`" + program + " help" + names.substr(program.size()) +
         "` lists the commands.";
}

CLI::Validator not_empty() {
  return CLI::Validator([](const std::string& text) { return text.empty() ? "it is empty" : ""; },
                        "");
}

}  // namespace firn
