// The command line of the laboratory's programs: KEY=VALUE words.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace firn::sim {

// Ends the program with status 2 and a message if a word is no KEY=VALUE, a value is no number, or
// a key was never asked for.
class Arguments {
 public:
  // `program`: for messages.
  Arguments(std::string program, int argc, char** argv);
  // As many words as `words` has, between spaces.
  Arguments(std::string program, const std::string& words);

  std::string text(const std::string& key, const std::string& otherwise);
  double number(const std::string& key, const std::string& otherwise);
  // Numbers with `between` between them.
  std::vector<double> list(const std::string& key, const std::string& otherwise, char between);
  // Every key asked for with its value, given or not. Call it once all have been asked for.
  const std::map<std::string, std::string>& all() const;
  // Ends the program with that message.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void add(const std::string& word);

  const std::string program_;
  std::map<std::string, std::string> given_, used_;
};

}  // namespace firn::sim
