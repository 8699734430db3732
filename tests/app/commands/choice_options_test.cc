// --file, --skip and --select-file on a command line.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "client/app/commands/options/download_options.h"
#include "proto/program/configuration.h"

namespace firn::app {
namespace {

using Words = std::vector<std::string>;

// What the line gives; throws CLI::ParseError.
Words rules_of(const Words& line) {
  CLI::App program("", "firn");
  CLI::App* const command = program.add_subcommand("take", "");
  content::FileChoice choice;
  Words sources;
  command->add_option("SOURCE", sources, "");
  add_choice_options(*command, choice);
  std::vector<const char*> argv = {"firn", "take"};
  for (const std::string& word : line) argv.push_back(word.c_str());
  const CommandWords words(program, static_cast<int>(argv.size()), argv.data());
  REQUIRE(words.wrong() == "");
  parse_words(program, words, {});
  return choice.texts();
}

TEST_CASE("rules for files keep the order of the command line") {
  CHECK(rules_of({}).empty());
  CHECK(rules_of({"--file", "a"}) == Words{"file:a"});
  CHECK(rules_of({"--skip", "b", "--file", "a", "--select-file", "2", "--skip=c", "x.firn",
                  "--file", "d", "--select-file=1,3-5"}) ==
        Words{"skip:b", "file:a", "select:2", "skip:c", "file:d", "select:1,3-5"});
  CHECK(rules_of({"--file", "a", "--file", "a", "--skip", "a"}) ==
        Words{"file:a", "file:a", "skip:a"});
}

TEST_CASE("a rule for files is taken whole, as it is") {
  for (const std::string text :
       {"[a,b]", "a,b", "{}", "two words", "-x", "--file", "\u00fc\n", "**/"}) {
    CAPTURE(text);
    CHECK(rules_of({"--file", text, "--skip", text}) == Words{"file:" + text, "skip:" + text});
  }
}

TEST_CASE("a wrong rule is refused with the name of its option") {
  const auto refusal = [](const Words& line) -> std::string {
    try {
      (void)rules_of(line);
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal({"--file", "a", "--select-file", "1-"}).starts_with("--select-file: choose '1-'"));
  CHECK(refusal({"--skip", "/", "--file", "a"}).starts_with("--skip: skip '/'"));
  CHECK(refusal({"--file", ""}).starts_with("--file: "));
}

TEST_CASE("rules for files do not stand in configuration files") {
  CLI::App command("", "firn");
  content::FileChoice choice;
  add_choice_options(command, choice);
  for (const char* name : {"--file", "--skip", "--select-file"})
    CHECK_FALSE(command.get_option(name)->get_configurable());
}

}  // namespace
}  // namespace firn::app
