#include "proto/program/configuration.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

namespace firn {
namespace {

const ConfigNames kNames = {"config.toml", "FIRN_TEST_CONFIG"};

// A program with commands and options of every kind, and folders for its files.
class Program {
 public:
  Program()
      : app_("", "prog"), folder_(std::filesystem::temp_directory_path() / "firn-config-XXXXXX") {
    std::string name = folder_.string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    app_.set_version_flag("--version", "1");
    CLI::App* get = app_.add_subcommand("get", "");
    CLI::App* bench = app_.add_subcommand("bench", "");
    for (CLI::App* command : {get, bench->add_subcommand("codec", "")}) {
      command->add_option("--limit", limit_)->check(CLI::Range(1, 100));
      command->add_option("--peer", peers_);
      command->add_flag("-q,--quiet", quiet_);
    }
    get->add_flag("-v,--verbose", verbosity_);
    get->add_option("SOURCE", source_);
    get->add_option("-o,--output", output_)->configurable(false);
    CLI::Option* sign = get->add_option("--sign", sign_);
    get->add_flag("--unsigned", unsigned_)->excludes(sign);
    get->add_flag("--fresh", fresh_)->needs(sign);
    app_.add_subcommand("share", "")->add_option("PATH", paths_)->required();
    app_.add_subcommand("help", "");
    add_config_options(app_, kNames);
  }
  ~Program() { std::filesystem::remove_all(folder_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  ConfigSource file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return {(folder_ / name).string(), true};
  }

  // What the options would get from the files, as words, or the error.
  std::string line(const std::vector<ConfigSource>& sources, const std::vector<std::string>& line) {
    const auto configuration = Configuration::load(app_, sources);
    if (!configuration.ok()) return without_folder(configuration.error().message());
    const auto settings = configuration->settings_for(app_, words(line));
    if (!settings.ok()) return without_folder(settings.error().message());
    std::string text;
    for (const Setting& setting : *settings)
      for (const std::string& value : setting.values)
        text += (text.empty() ? "--" : " --") + setting.key + (value == "true" ? "" : " " + value);
    return text;
  }
  // With one file.
  std::string line(const std::string& text, std::vector<std::string> words) {
    return line({file("c", text)}, std::move(words));
  }

  std::vector<std::string> source_paths(const std::vector<std::string>& line) {
    std::vector<std::string> paths;
    for (const ConfigSource& source : config_sources(words(line), kNames))
      paths.push_back(source.path);
    return paths;
  }

  // Runs the line with the settings of a file. What was wrong, or the help; empty: nothing.
  std::string run(const std::vector<std::string>& line, const std::string& text = "") {
    const CommandWords read = words(line);
    const auto settings = Configuration::load(app_, {file("c", text)})->settings_for(app_, read);
    try {
      parse_words(app_, read, *settings);
    } catch (const CLI::ParseError& error) {
      return error.get_exit_code() == 0 ? app_.help() : error.what();
    }
    return "";
  }

  // Where run() has put the values.
  int limit_ = 0, verbosity_ = 0;
  bool quiet_ = false, unsigned_ = false, fresh_ = false;
  std::vector<std::string> peers_, paths_;
  std::string source_, output_, sign_;

 private:
  CommandWords words(const std::vector<std::string>& line) {
    std::vector<const char*> argv = {"prog"};
    for (const std::string& word : line) argv.push_back(word.c_str());
    return CommandWords(app_, static_cast<int>(argv.size()), argv.data());
  }
  std::string without_folder(std::string text) const {
    const std::string prefix = folder_.string() + "/";
    for (std::size_t at; (at = text.find(prefix)) != std::string::npos;)
      text.erase(at, prefix.size());
    return text;
  }

  CLI::App app_;
  std::filesystem::path folder_;
};

TEST_CASE("an option has one value each time that it is given, whatever a file says") {
  for (const char* text : {"", "peer = [\"p\", \"q\"]\n", "limit = 7\nquiet = true\n"}) {
    CAPTURE(text);
    Program program;
    CHECK(program.run({"get", "--peer", "a", "x"}, text) == "");
    CHECK(program.peers_ == std::vector<std::string>{"a"});
    CHECK(program.source_ == "x");
    Program another;
    CHECK(another.run({"get", "--peer=a", "--peer", "-q", "-o", "--", "x"}, text) == "");
    CHECK(another.peers_ == std::vector<std::string>{"a", "-q"});
    CHECK(another.output_ == "--");
    CHECK(another.source_ == "x");
    Program share;
    CHECK(share.run({"share", "a", "--", "--b", "c"}, text) == "");
    CHECK(share.paths_ == std::vector<std::string>{"a", "--b", "c"});
  }
  Program program;
  CHECK(program.run({"get", "x"}, "peer = [\"p\", \"q\"]\n") == "");
  CHECK(program.peers_ == std::vector<std::string>{"p", "q"});
  CHECK(program.source_ == "x");
}

TEST_CASE("no value is taken apart, wherever it comes from") {
  for (const std::string value :
       {"[a,b]", "[a]", "[::1]", "[[a]]", "[]", "{}", "%%", "a,b", "[a", "a]", "a b", "=a"}) {
    CAPTURE(value);
    const std::vector<std::string> alone = {value}, twice = {value, "c"};
    Program line;
    CHECK(line.run({"get", "--peer", value, "-o", value, value}) == "");
    CHECK(line.peers_ == alone);
    CHECK(line.output_ == value);
    CHECK(line.source_ == value);
    Program share;
    CHECK(share.run({"share", value, "c"}) == "");
    CHECK(share.paths_ == twice);
    Program file;
    CHECK(file.run({"get"}, "peer = [\"" + value + "\", \"c\"]\nsign = \"" + value + "\"\n") == "");
    CHECK(file.peers_ == twice);
    CHECK(file.sign_ == value);
  }
}

TEST_CASE("an option without a value takes none, and may be given again") {
  Program program;
  CHECK(program.run({"get", "-vqv", "x", "--verbose"}, "quiet = true\n") == "");
  CHECK(program.verbosity_ == 3);
  CHECK(program.quiet_);
  CHECK(program.source_ == "x");
  Program file;
  CHECK(file.run({"get", "--quiet=false"}, "quiet = true\nverbose = true\n") == "");
  CHECK(file.verbosity_ == 1);
  CHECK_FALSE(file.quiet_);
  CHECK(Program().run({"get", "--quiet=perhaps"}) != "");
}

TEST_CASE("a word that nothing takes is refused") {
  CHECK(Program().run({"get", "x", "y"}) == "unexpected argument 'y'");
  CHECK(Program().run({"gte"}) == "unknown command 'gte'; did you mean 'get'?");
  CHECK(Program().run({"get", "--peer"}) == "--peer needs a value");
  CHECK(Program().run({"get", "-qo"}) == "-qo needs a value");
  CHECK(Program().run({"share"}).find("PATH") != std::string::npos);
}

TEST_CASE("help COMMAND is COMMAND --help") {
  const std::string help = Program().run({"bench", "codec", "--help"});
  CHECK(help.find("--limit") != std::string::npos);
  CHECK(Program().run({"help", "bench", "codec"}) == help);
  CHECK(Program().run({"help"}) == Program().run({"--help"}));
  const std::string of_help = Program().run({"help", "--help"});
  CHECK(of_help.find("prog help") != std::string::npos);
  CHECK(Program().run({"help", "help"}) == of_help);
  CHECK(Program().run({"--version=false", "help"}).find("bench") != std::string::npos);
  CHECK(Program().run({"help", "gte"}) == "unknown command 'gte'; did you mean 'get'?");
}

TEST_CASE("an option gets the values of a file") {
  Program program;
  CHECK(program.line("limit = 7\n", {"get", "x"}) == "--limit 7");
  CHECK(program.line("peer = [\"a\", \"-b\"]\n", {"get", "x"}) == "--peer a --peer -b");
  CHECK(program.line("peer = \"a\"\n", {"get", "x"}) == "--peer a");
  CHECK(program.line("quiet = true\n", {"bench", "codec"}) == "--quiet");
  CHECK(program.line("quiet = false\npeer = []\n", {"get", "x"}) == "");
  CHECK(program.line("", {"get", "x"}) == "");
}

TEST_CASE("what the command line gives has no setting") {
  Program program;
  const std::string text = "limit = 7\npeer = [\"a\"]\nquiet = true\n";
  CHECK(program.line(text, {"get", "--limit", "8", "--peer=b", "-q"}) == "");
  CHECK(program.line("limit = 7\n", {"get", "--", "--limit"}) == "--limit 7");
  CHECK(program.line("quiet = true\n", {"get", "--quiet=false"}) == "");
}

TEST_CASE("a deeper table goes before the top, and a later file before an earlier one") {
  Program program;
  const std::string text =
      "limit = 1\n[get]\nlimit = 2\n[bench]\nlimit = 3\n[bench.codec]\nlimit = 4";
  CHECK(program.line(text, {"get"}) == "--limit 2");
  CHECK(program.line(text, {"bench", "codec"}) == "--limit 4");
  CHECK(program.line("limit = 1\n[bench]\nlimit = 3\n", {"bench", "codec"}) == "--limit 3");
  const ConfigSource system = program.file("system", "[get]\nlimit = 5\nquiet = true\n");
  const ConfigSource user = program.file("user", "limit = 6\nquiet = false\n");
  CHECK(program.line({system, user}, {"get"}) == "--limit 6");
}

TEST_CASE("a setting gives way to what the line gives and it excludes") {
  Program program;
  CHECK(program.line("sign = \"k\"\n", {"get", "--unsigned"}) == "");
  CHECK(program.line("unsigned = true\n", {"get", "--sign", "k"}) == "");
  CHECK(program.line("sign = \"k\"\n[get]\nunsigned = true\n", {"get"}) == "--unsigned");
  CHECK(program.line("sign = \"k\"\nunsigned = true\n", {"get"}).starts_with("c:"));
  CHECK(program.line("sign = \"k\"\nunsigned = true\n", {"get"}).find("does not go with") !=
        std::string::npos);
}

TEST_CASE("a setting without the option that it needs is left out") {
  Program program;
  CHECK(program.line("fresh = true\n", {"get"}) == "");
  CHECK(program.line("fresh = true\n", {"get", "--sign", "k"}) == "--fresh");
}

TEST_CASE("unknown keys are named with their line and the nearest key") {
  Program program;
  CHECK(program.line("\nlimt = 1\n", {"get"}) == "c:2: unknown key 'limt'; did you mean 'limit'?");
  CHECK(program.line("[get]\nquite = true\n", {"get"}) ==
        "c:2: unknown key 'quite' in [get]; did you mean 'quiet'?");
  CHECK(program.line("[gte]\nquiet = true\n", {"get"}) ==
        "c:1: unknown key 'gte'; did you mean 'get'?");
  CHECK(program.line("[bench.codc]\n", {"get"}) ==
        "c:1: unknown key 'codc' in [bench]; did you mean 'codec'?");
  CHECK(program.line("[bench]\nsign = \"k\"\n", {"get"}) == "c:2: unknown key 'sign' in [bench]");
  CHECK(program.line("get = 1\n", {"get"}).starts_with("c:1: get is a command"));
}

TEST_CASE("values of another kind than the option's are named with their line") {
  Program program;
  CHECK(program.line("limit = true\n", {"get"}) == "c:1: limit: must be a text or a number");
  CHECK(program.line("limit = [1]\n", {"get"}) == "c:1: limit: must be a text or a number");
  CHECK(program.line("quiet = 1\n", {"get"}) == "c:1: quiet: must be true or false");
  CHECK(program.line("peer = true\n", {"get"}) == "c:1: peer: must be a text, or a list of texts");
  CHECK(program.line("[limit]\n", {"get"}) == "c:1: limit: must be a text or a number");
  CHECK(program.line("limit = 2026-01-01\n", {"get"}) == "c:1: limit: must be a text or a number");
}

TEST_CASE("values that an option refuses are named with their line") {
  Program program;
  CHECK(program.line("\n\nlimit = 101\n", {"get"}).starts_with("c:3: limit: "));
  CHECK(program.line("limit = \"many\"\n", {"get"}).starts_with("c:1: limit: "));
  CHECK(program.line("limit = 101\n", {"get", "--limit", "5"}) == "");
}

TEST_CASE("options of a single run belong to the command line alone") {
  Program program;
  for (const char* key : {"output", "help", "config", "no-config"}) {
    const std::string said = program.line(std::string(key) + " = \"x\"\n", {"get"});
    CAPTURE(said);
    CHECK(said.starts_with("c:1: " + std::string(key) + ": belongs to a single run"));
  }
}

TEST_CASE("help reads no settings") {
  Program program;
  CHECK(program.line("limit = 7\n", {"get", "--help"}) == "");
  CHECK(program.line("limit = 7\n", {"help", "get"}) == "");
  CHECK(program.line("limit = 7\n", {"--version"}) == "");
  CHECK(program.line("limit = 7\n", {"bench"}) == "");
}

TEST_CASE("the line, then the environment, then the folders say which files are read") {
  Program program;
  ::unsetenv("FIRN_TEST_CONFIG");
  ::setenv("XDG_CONFIG_HOME", "/xdg", 1);
  using Paths = std::vector<std::string>;
  CHECK(program.source_paths({"get"}) == Paths{"/etc/firn/config.toml", "/xdg/firn/config.toml"});
  ::setenv("XDG_CONFIG_HOME", "relative", 1);
  ::setenv("HOME", "/me", 1);
  CHECK(program.source_paths({"get"}) ==
        Paths{"/etc/firn/config.toml", "/me/.config/firn/config.toml"});
  ::setenv("FIRN_TEST_CONFIG", "env.toml", 1);
  CHECK(program.source_paths({"get"}) == Paths{"env.toml"});
  CHECK(program.source_paths({"get", "--config", "line.toml"}) == Paths{"line.toml"});
  CHECK(program.source_paths({"--config=line.toml", "get"}) == Paths{"line.toml"});
  CHECK(program.source_paths({"get", "--no-config"}).empty());
  ::setenv("FIRN_TEST_CONFIG", "", 1);
  CHECK(program.source_paths({"get"}).empty());
  ::unsetenv("FIRN_TEST_CONFIG");
}

TEST_CASE("a file that was named must be there, others need not") {
  Program program;
  const ConfigSource looked_for = {"/nonexistent/c"}, named = {"/nonexistent/c", true};
  CHECK(program.line(std::vector{looked_for}, {"get"}) == "");
  CHECK(program.line(std::vector{named}, {"get"}).find("/nonexistent/c") != std::string::npos);
}

}  // namespace
}  // namespace firn
