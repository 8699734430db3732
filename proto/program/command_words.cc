#include "proto/program/command_words.h"

#include <algorithm>
#include <utility>

#include "proto/program/config_keys.h"
#include "proto/program/nearest_word.h"

namespace firn {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string unknown_option(const CLI::App& app, const std::string& word) {
  return "unknown option '" + word + "'" + did_you_mean(nearest_word(word, option_names(app)));
}

}  // namespace

CommandWords::CommandWords(CLI::App& app, int argc, const char* const* argv)
    : program_(&app), at_(&app) {
  bool options_end = false;  // behind "--"
  bool help_is_command = false;
  for (int i = 1; i < argc && wrong_.empty(); ++i) {
    const std::string word = argv[i];
    if (expecting_ != nullptr) {
      take(*std::exchange(expecting_, nullptr), word);
    } else if (options_end) {
      plain(word);
    } else if (word == "--") {
      options_end = true;
    } else if (word.starts_with("--")) {
      long_option(word);
    } else if (word.size() > 1 && word[0] == '-') {
      short_options(word);
    } else if (word == "help" && at_ == program_ && !at_command() && !help_is_command) {
      help_is_command = asks_help_ = true;
    } else {
      plain(word);
    }
  }
  if (expecting_ != nullptr) wrong_ = std::string(argv[argc - 1]) + " needs a value";
  if (!help_is_command) return;
  if (at_ == program_ && has(at_->get_help_ptr())) plain("help");  // `help --help`, about itself
  take(*at_->get_help_ptr(), "");
}

std::string CommandWords::names() const {
  std::string names = program_->get_name();
  for (const std::string& name : command_) names += " " + name;
  return names;
}

const std::string* CommandWords::value_of(const std::string& option) const {
  for (const CLI::App* app : {at_, program_}) {
    const auto found = std::find_if(values_.rbegin(), values_.rend(),
                                    [wanted = app->get_option_no_throw(option)](const auto& it) {
                                      return it.option == wanted;
                                    });
    if (found != values_.rend()) return &found->value;
  }
  return nullptr;
}

bool CommandWords::has(const CLI::Option* option) const {
  return std::ranges::find(values_, option, &GivenValue::option) != values_.end();
}

void CommandWords::take(CLI::Option& option, const std::string& value) {
  values_.push_back({&option, value});
  if (&option == at_->get_help_ptr() || &option == program_->get_version_ptr()) asks_help_ = true;
}

void CommandWords::long_option(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  CLI::Option* const option = at_->get_option_no_throw(name);
  if (option == nullptr) {
    wrong_ = unknown_option(*at_, name);
  } else if (name != word) {
    take(*option, word.substr(name.size() + 1));
  } else if (is_switch(*option)) {
    take(*option, "");
  } else {
    expecting_ = option;
  }
}

void CommandWords::short_options(const std::string& word) {
  for (std::size_t i = 1; i < word.size(); ++i) {
    CLI::Option* const option = at_->get_option_no_throw(std::string("-") + word[i]);
    if (option == nullptr) {
      wrong_ = unknown_option(*at_, word);
      return;
    }
    if (is_switch(*option)) {
      take(*option, "");
      continue;
    }
    if (i + 1 == word.size()) {
      expecting_ = option;
    } else {
      take(*option, word.substr(i + 1));
    }
    return;
  }
}

void CommandWords::plain(const std::string& word) {
  if (at_command()) return argument(word);
  if (command_of(*at_, word) == nullptr) {
    wrong_ = unknown_command(*at_, word);
    return;
  }
  at_ = at_->get_subcommand(word);
  command_.push_back(word);
}

void CommandWords::argument(const std::string& word) {
  for (CLI::Option* option : at_->get_options()) {
    if (option->get_positional() && (is_repeatable(*option) || !has(option)))
      return take(*option, word);
  }
  wrong_ = "unexpected argument '" + word + "'";
}

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

std::string did_you_mean(const std::string& nearest) {
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace firn
