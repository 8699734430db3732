// The words of a command line, read: the command, its options and their values.
//
// An option has one value each time it stands on the line, the word behind it or what follows its
// `=`; every other word is a command or an argument of one. No value is taken apart. CLI11 declares
// the options and checks the values, but reads no words itself: an option that may be repeated
// would take the arguments behind it as more of its values (parse_words() in configuration.h).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace firn {

// A value of an option or argument; empty: a flag's that has none.
struct GivenValue {
  CLI::Option* option = nullptr;
  std::string value;
};

class CommandWords {
 public:
  // `app` must outlive this object, with the options and commands it has now.
  CommandWords(CLI::App& app, int argc, const char* const* argv);

  // What is wrong with the first word that is neither command, option nor argument, with the
  // nearest command or option; or an option at the end without its value. Empty: nothing is.
  const std::string& wrong() const { return wrong_; }
  const CLI::App& program() const { return *program_; }
  // The program and the commands on the line: "firn get".
  std::string names() const;
  // The commands alone, outermost first: {"bench", "codec"}.
  const std::vector<std::string>& command() const { return command_; }
  // Whether the line names a command whole, with nothing below it to choose.
  bool at_command() const { return at_->get_subcommands({}).empty(); }
  // Whether the line asks only for a help or the version. `firn help get` is `firn get --help`.
  bool asks_help() const { return asks_help_; }

  // In the order of the line.
  const std::vector<GivenValue>& values() const { return values_; }
  bool has(const CLI::Option* option) const;
  // The last value of the command's option, or of the program's, of that name; nullptr: it is not
  // on the line.
  const std::string* value_of(const std::string& option) const;

 private:
  void long_option(const std::string& word);
  void short_options(const std::string& word);
  void plain(const std::string& word);
  void argument(const std::string& word);
  void take(CLI::Option& option, const std::string& value);

  CLI::App* program_;
  CLI::App* at_;
  std::vector<std::string> command_;
  bool asks_help_ = false;
  CLI::Option* expecting_ = nullptr;  // the next word is its value
  std::vector<GivenValue> values_;
  std::string wrong_;
};

// The command of `app` with this name, or nullptr.
const CLI::App* command_of(const CLI::App& app, const std::string& name);
// "unknown command 'gte'; did you mean 'get'?"
std::string unknown_command(const CLI::App& app, const std::string& name);
// "; did you mean 'get'?" of a nearest word; empty for an empty one.
std::string did_you_mean(const std::string& nearest);

}  // namespace firn
