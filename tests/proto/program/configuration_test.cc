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
      command->add_option("--peer", peers_)
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      command->add_flag("-q,--quiet", quiet_);
    }
    get->add_option("SOURCE", source_);
    get->add_option("-o,--output", output_)->configurable(false);
    CLI::Option* sign = get->add_option("--sign", sign_);
    get->add_flag("--unsigned", unsigned_)->excludes(sign);
    get->add_flag("--fresh", fresh_)->needs(sign);
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

  // The words for CLI11, after the program's, or the error.
  std::string line(const std::vector<ConfigSource>& sources, std::vector<std::string> words) {
    words.insert(words.begin(), "prog");
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    const int argc = static_cast<int>(argv.size());
    const auto configuration = Configuration::load(app_, sources);
    if (!configuration.ok()) return without_folder(configuration.error().message());
    const CommandWords read(app_, argc, argv.data());
    const auto all = configuration->complete(app_, read, argc, argv.data());
    if (!all.ok()) return without_folder(all.error().message());
    std::string line;
    for (std::size_t i = 1; i < all->size(); ++i) line += (i > 1 ? " " : "") + (*all)[i];
    return line;
  }
  // With one file.
  std::string line(const std::string& text, std::vector<std::string> words) {
    return line({file("c", text)}, std::move(words));
  }

  std::vector<std::string> source_paths(const std::vector<const char*>& words) {
    std::vector<std::string> paths;
    const CommandWords read(app_, static_cast<int>(words.size()), words.data());
    for (const ConfigSource& source : config_sources(read, kNames)) paths.push_back(source.path);
    return paths;
  }

 private:
  std::string without_folder(std::string text) const {
    const std::string prefix = folder_.string() + "/";
    for (std::size_t at; (at = text.find(prefix)) != std::string::npos;)
      text.erase(at, prefix.size());
    return text;
  }

  CLI::App app_;
  std::filesystem::path folder_;
  int limit_ = 0;
  bool quiet_ = false, unsigned_ = false, fresh_ = false;
  std::vector<std::string> peers_;
  std::string source_, output_, sign_;
};

TEST_CASE("settings become words of the command, before those of the line") {
  Program program;
  CHECK(program.line("limit = 7\n", {"get", "x"}) == "get --limit 7 x");
  CHECK(program.line("peer = [\"a\", \"-b\"]\n", {"get", "x"}) == "get --peer a --peer -b x");
  CHECK(program.line("peer = \"a\"\n", {"get", "x"}) == "get --peer a x");
  CHECK(program.line("quiet = true\n", {"bench", "codec"}) == "bench codec --quiet");
  CHECK(program.line("quiet = false\npeer = []\n", {"get", "x"}) == "get x");
  CHECK(program.line("", {"get", "x"}) == "get x");
}

TEST_CASE("what the command line gives has no setting") {
  Program program;
  const std::string text = "limit = 7\npeer = [\"a\"]\nquiet = true\n";
  CHECK(program.line(text, {"get", "--limit", "8", "--peer=b", "-q"}) ==
        "get --limit 8 --peer=b -q");
  CHECK(program.line("limit = 7\n", {"get", "--", "--limit"}) == "get --limit 7 -- --limit");
  CHECK(program.line("quiet = true\n", {"get", "--quiet=false"}) == "get --quiet=false");
}

TEST_CASE("a deeper table goes before the top, and a later file before an earlier one") {
  Program program;
  const std::string text =
      "limit = 1\n[get]\nlimit = 2\n[bench]\nlimit = 3\n[bench.codec]\nlimit = 4";
  CHECK(program.line(text, {"get"}) == "get --limit 2");
  CHECK(program.line(text, {"bench", "codec"}) == "bench codec --limit 4");
  CHECK(program.line("limit = 1\n[bench]\nlimit = 3\n", {"bench", "codec"}) ==
        "bench codec --limit 3");
  const ConfigSource system = program.file("system", "[get]\nlimit = 5\nquiet = true\n");
  const ConfigSource user = program.file("user", "limit = 6\nquiet = false\n");
  CHECK(program.line({system, user}, {"get"}) == "get --limit 6");
}

TEST_CASE("a setting gives way to what the line gives and it excludes") {
  Program program;
  CHECK(program.line("sign = \"k\"\n", {"get", "--unsigned"}) == "get --unsigned");
  CHECK(program.line("unsigned = true\n", {"get", "--sign", "k"}) == "get --sign k");
  CHECK(program.line("sign = \"k\"\n[get]\nunsigned = true\n", {"get"}) == "get --unsigned");
  CHECK(program.line("sign = \"k\"\nunsigned = true\n", {"get"}).starts_with("c:"));
  CHECK(program.line("sign = \"k\"\nunsigned = true\n", {"get"}).find("does not go with") !=
        std::string::npos);
}

TEST_CASE("a setting without the option that it needs is left out") {
  Program program;
  CHECK(program.line("fresh = true\n", {"get"}) == "get");
  CHECK(program.line("fresh = true\n", {"get", "--sign", "k"}) == "get --fresh --sign k");
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
  CHECK(program.line("limit = 101\n", {"get", "--limit", "5"}) == "get --limit 5");
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
  CHECK(program.line("limit = 7\n", {"get", "--help"}) == "get --help");
  CHECK(program.line("limit = 7\n", {"help", "get"}) == "help get");
  CHECK(program.line("limit = 7\n", {"--version"}) == "--version");
  CHECK(program.line("limit = 7\n", {"bench"}) == "bench");
}

TEST_CASE("the line, then the environment, then the folders say which files are read") {
  Program program;
  ::unsetenv("FIRN_TEST_CONFIG");
  ::setenv("XDG_CONFIG_HOME", "/xdg", 1);
  using Paths = std::vector<std::string>;
  CHECK(program.source_paths({"prog", "get"}) ==
        Paths{"/etc/firn/config.toml", "/xdg/firn/config.toml"});
  ::setenv("XDG_CONFIG_HOME", "relative", 1);
  ::setenv("HOME", "/me", 1);
  CHECK(program.source_paths({"prog", "get"}) ==
        Paths{"/etc/firn/config.toml", "/me/.config/firn/config.toml"});
  ::setenv("FIRN_TEST_CONFIG", "env.toml", 1);
  CHECK(program.source_paths({"prog", "get"}) == Paths{"env.toml"});
  CHECK(program.source_paths({"prog", "get", "--config", "line.toml"}) == Paths{"line.toml"});
  CHECK(program.source_paths({"prog", "--config=line.toml", "get"}) == Paths{"line.toml"});
  CHECK(program.source_paths({"prog", "get", "--no-config"}).empty());
  ::setenv("FIRN_TEST_CONFIG", "", 1);
  CHECK(program.source_paths({"prog", "get"}).empty());
  ::unsetenv("FIRN_TEST_CONFIG");
}

TEST_CASE("a file that was named must be there, others need not") {
  Program program;
  const ConfigSource looked_for = {"/nonexistent/c"}, named = {"/nonexistent/c", true};
  CHECK(program.line(std::vector{looked_for}, {"get"}) == "get");
  CHECK(program.line(std::vector{named}, {"get"}).find("/nonexistent/c") != std::string::npos);
}

}  // namespace
}  // namespace firn
