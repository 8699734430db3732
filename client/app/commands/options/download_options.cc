#include "client/app/commands/options/download_options.h"

#include <algorithm>
#include <vector>

#include "client/content/top_name.h"

namespace firn::app {
namespace {

std::string as_fault(const std::string& as) {
  const Status fine = content::check_as(as);
  return fine.ok() ? "" : fine.error().message();
}

using Rule = content::FileRule;

void add_rule_option(CLI::App& command, const char* name, Rule::Kind kind,
                     content::FileChoice& choice, const char* value, const char* use) {
  // Called once for each value, with all that the option has on the line.
  const auto add_next = [&choice, kind, name](const std::vector<std::string>& texts) {
    const auto next =
        static_cast<std::size_t>(std::ranges::count(choice.rules(), kind, &Rule::kind));
    if (next >= texts.size()) return;
    if (const Status added = choice.add({kind, texts[next]}); !added.ok())
      throw CLI::ValidationError(name, added.error().message());
  };
  command.add_option_function<std::vector<std::string>>(name, add_next, use)
      ->option_text(value)
      ->configurable(false)
      ->trigger_on_parse();
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

void add_choice_options(CLI::App& command, content::FileChoice& choice) {
  add_rule_option(command, "--file", Rule::Kind::kFile, choice, "GLOB",
                  "choose these files, by name ('*.mkv') or path ('docs/', 'docs/*.pdf') "
                  "(repeatable); the last rule that names a file decides");
  add_rule_option(command, "--skip", Rule::Kind::kSkip, choice, "GLOB",
                  "leave these files out; as the first rule: choose all others (repeatable)");
  add_rule_option(command, "--select-file", Rule::Kind::kSelect, choice, "NUMBERS",
                  "choose files by the numbers that firn info --files shows: 1,3-5 (repeatable)");
}

}  // namespace firn::app
