// The words of a command line, read before or after CLI11 parses them: as it does, far enough to
// tell the command, its options and their values.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace firn {

class CommandWords {
 public:
  // `app` must outlive this object, with the options and commands it has now.
  CommandWords(const CLI::App& app, int argc, const char* const* argv);

  // The first word that is neither command nor option, and the nearest that is; or an option at the
  // end without its value. Empty: neither.
  const std::string& wrong() const { return wrong_; }
  // The program and the commands on the line: "firn get".
  std::string names() const;
  // The commands alone, outermost first: {"bench", "codec"}.
  const std::vector<std::string>& command() const { return command_; }
  // Whether the line names a command whole, with nothing below it to choose.
  bool at_command() const { return at_->get_subcommands({}).empty(); }
  // Which word that is, from 0, the program.
  std::size_t command_at() const { return command_at_; }
  // Whether the line asks only for a help or the version.
  bool asks_help() const { return asks_help_; }

  bool has(const CLI::Option* option) const { return given_.contains(option); }
  // The last value of the command's option, or of the program's, of that name; nullptr: it is not
  // on the line. A flag's is empty.
  const std::string* value_of(const std::string& option) const;

 private:
  void long_option(const std::string& word);
  void short_options(const std::string& word);
  void expect(const std::string& word, const CLI::Option& option);
  void plain(const std::string& word, std::size_t index);
  void take(const CLI::Option& option, const std::string& value);

  const CLI::App* program_;
  const CLI::App* at_;
  std::vector<std::string> command_;
  std::size_t command_at_ = 0;
  bool asks_help_ = false;
  int values_ = 0;      // words to come that are values
  std::string option_;  // whose values they are, as it is on the line
  const CLI::Option* expecting_ = nullptr;
  std::map<const CLI::Option*, std::string> given_;
  std::string wrong_;
};

// The command of `app` with this name, or nullptr.
const CLI::App* command_of(const CLI::App& app, const std::string& name);
// "unknown command 'gte'; did you mean 'get'?"
std::string unknown_command(const CLI::App& app, const std::string& name);
// "; did you mean 'get'?" of a nearest word; empty for an empty one.
std::string did_you_mean(const std::string& nearest);

}  // namespace firn
