#include "proto/program/command_words.h"

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

CommandWords::CommandWords(const CLI::App& app, int argc, const char* const* argv)
    : program_(&app), at_(&app) {
  for (int i = 1; i < argc && wrong_.empty(); ++i) {
    const std::string word = argv[i];
    if (values_ > 0) {
      --values_;
      take(*expecting_, word);
    } else if (word == "--") {
      break;
    } else if (word.starts_with("--")) {
      long_option(word);
    } else if (word.size() > 1 && word[0] == '-') {
      short_options(word);
    } else {
      plain(word, static_cast<std::size_t>(i));
    }
  }
  if (values_ > 0) wrong_ = option_ + " needs a value";
}

std::string CommandWords::names() const {
  std::string names = program_->get_name();
  for (const std::string& name : command_) names += " " + name;
  return names;
}

const std::string* CommandWords::value_of(const std::string& option) const {
  for (const CLI::App* app : {at_, program_}) {
    const auto found = given_.find(app->get_option_no_throw(option));
    if (found != given_.end()) return &found->second;
  }
  return nullptr;
}

void CommandWords::take(const CLI::Option& option, const std::string& value) {
  given_[&option] = value;
  if (&option == at_->get_help_ptr() || &option == program_->get_version_ptr()) asks_help_ = true;
}

void CommandWords::long_option(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const CLI::Option* option = at_->get_option_no_throw(name);
  if (option == nullptr) {
    wrong_ = unknown_option(*at_, name);
    return;
  }
  take(*option, name == word ? "" : word.substr(name.size() + 1));
  if (name == word) expect(word, *option);
}

void CommandWords::short_options(const std::string& word) {
  for (std::size_t i = 1; i < word.size(); ++i) {
    const CLI::Option* option = at_->get_option_no_throw(std::string("-") + word[i]);
    if (option == nullptr) {
      wrong_ = unknown_option(*at_, word);
      return;
    }
    take(*option, "");
    if (option->get_items_expected_min() == 0) continue;
    if (i + 1 == word.size()) {
      expect(word, *option);
    } else {
      take(*option, word.substr(i + 1));
    }
    return;
  }
}

void CommandWords::expect(const std::string& word, const CLI::Option& option) {
  option_ = word;
  expecting_ = &option;
  values_ = option.get_items_expected_min();
}

void CommandWords::plain(const std::string& word, std::size_t index) {
  if (at_command()) return;
  if (word == "help" && at_ == program_) {  // of what the next words say
    asks_help_ = true;
    return;
  }
  if (const CLI::App* command = command_of(*at_, word)) {
    at_ = command;
    command_.push_back(word);
    command_at_ = index;
  } else {
    wrong_ = unknown_command(*at_, word);
  }
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
