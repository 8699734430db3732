#include "proto/program/usage.h"

#include <string_view>

#include "proto/base/plain_text.h"
#include "proto/content/content_secret.h"
#include "proto/program/nearest_word.h"

namespace firn {
namespace {

std::string did_you_mean(const std::string& nearest) {
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string unknown_option(const CLI::App& app, const std::string& word) {
  return "unknown option '" + word + "'" + did_you_mean(nearest_word(word, option_names(app)));
}

// Goes through the words as CLI11 does, far enough to tell options from their values.
class Reader {
 public:
  Reader(const CLI::App& app, int argc, const char* const* argv) : at_(&app) {
    names_ = app.get_name();
    for (int i = 1; i < argc && wrong_.empty(); ++i) {
      const std::string word = argv[i];
      if (values_ > 0) {
        --values_;
      } else if (word == "--") {
        break;
      } else if (word.starts_with("--")) {
        long_option(word);
      } else if (word.size() > 1 && word[0] == '-') {
        short_options(word);
      } else {
        plain(word);
      }
    }
    if (values_ > 0) wrong_ = option_ + " needs a value";
  }

  // Empty: there is no unknown word, and no option at the end without its value.
  const std::string& wrong() const { return wrong_; }
  // The program and the commands so far: "firn get".
  const std::string& names() const { return names_; }
  bool at_command() const { return at_->get_subcommands({}).empty(); }

 private:
  void long_option(const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    const CLI::Option* option = at_->get_option_no_throw(name);
    if (option == nullptr) {
      wrong_ = unknown_option(*at_, name);
    } else if (name == word) {
      expect(word, *option);
    }
  }

  void short_options(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const CLI::Option* option = at_->get_option_no_throw(std::string("-") + word[i]);
      if (option == nullptr) {
        wrong_ = unknown_option(*at_, word);
        return;
      }
      if (option->get_items_expected_min() == 0) continue;
      if (i + 1 == word.size()) expect(word, *option);
      return;  // the rest is its value
    }
  }

  void expect(const std::string& word, const CLI::Option& option) {
    option_ = word;
    values_ = option.get_items_expected_min();
  }

  void plain(const std::string& word) {
    if (at_command()) return;
    if (word == "help" && at_->get_parent() == nullptr) return;  // of what the next words say
    if (const CLI::App* command = command_of(*at_, word)) {
      at_ = command;
      names_ += " " + word;
    } else {
      wrong_ = unknown_command(*at_, word);
    }
  }

  const CLI::App* at_;
  std::string names_;
  int values_ = 0;      // words to come that are values
  std::string option_;  // whose values they are
  std::string wrong_;
};

}  // namespace

const CLI::App* command_of(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands({}))
    if (command->get_name() == name) return command;
  return nullptr;
}

std::string unknown_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return "unknown command '" + name + "'" + did_you_mean(nearest_word(name, names));
}

std::string usage_error(const CLI::App& app, int argc, const char* const* argv,
                        const CLI::ParseError& error) {
  const Reader reader(app, argc, argv);
  const std::string& names = reader.names();
  std::string what = reader.wrong();
  if (what.empty()) what = reader.at_command() ? error.what() : "a command is missing";
  what = without_secrets(what);
  if (reader.at_command())
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
