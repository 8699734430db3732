#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "client/app/cli.h"
#include "client/app/console/exit_codes.h"
#include "tests/app/temp_folder.h"

namespace firn::app {
namespace {

struct Outcome {
  int code;
  std::string out;
};

// stdout as C++ and C streams write it goes to a file meanwhile. The user's own configuration is
// not read.
Outcome run(std::vector<std::string> words) {
  setenv("FIRN_CONFIG", "", 1);
  words.insert(words.begin(), "firn");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  tests::TempFolder folder;
  const std::string path = folder.path() + "/out";
  std::fflush(stdout);
  const int saved = dup(1), saved_errors = dup(2);
  REQUIRE(std::freopen(path.c_str(), "w", stdout) != nullptr);
  dup2(1, 2);
  std::ostringstream text;
  auto* const cout = std::cout.rdbuf(text.rdbuf());
  auto* const cerr = std::cerr.rdbuf(text.rdbuf());
  const int code = run_cli(static_cast<int>(argv.size()), argv.data());
  std::cout.rdbuf(cout);
  std::cerr.rdbuf(cerr);
  std::fflush(stdout);
  dup2(saved, 1);
  dup2(saved_errors, 2);
  close(saved);
  close(saved_errors);
  std::ifstream file(path);
  text << file.rdbuf();
  return {code, text.str()};
}

constexpr int kUsage = static_cast<int>(ExitCode::kUsage);

TEST_CASE("a number out of its bounds is refused in words that name the bounds") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"get", "x", "--max-peers", "0"}, "--max-peers: 0 is not 1 to 20000"},
      {{"get", "x", "--max-peers", "20001"}, "20001 is not 1 to 20000"},
      {{"get", "x", "--max-peers", "7x"}, "7x is not 1 to 20000"},
      {{"get", "x", "--memory", "1M"}, "is not at least 16M"},
      {{"medium", "plan", "--rate", "0.7"}, "0.7 is not 0 to 0.5"}};
  for (const auto& one : cases) {
    const Outcome outcome = run(one.first);
    CHECK(outcome.code == kUsage);
    CHECK_MESSAGE(outcome.out.find(one.second) != std::string::npos, outcome.out);
  }
}

TEST_CASE("help is there for the program and every command, with the exit codes") {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                {"create", "--help"},
                                                {"share", "--help"},
                                                {"get", "--help"},
                                                {"seed", "--help"},
                                                {"info", "--help"},
                                                {"verify", "--help"},
                                                {"keygen", "--help"},
                                                {"doctor", "--help"}}) {
    const Outcome outcome = run(words);
    CAPTURE(words[0]);
    CHECK(outcome.code == 0);
    CHECK(outcome.out.find("Exit codes:") != std::string::npos);
  }
  CHECK(run({"--version"}).code == 0);
}

TEST_CASE("wrong usage ends with the exit code for it") {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"fetch"},
      {"get"},
      {"get", "x.firn", "-o", "d", "--seed", "sometimes"},
      {"get", "x.firn", "-o", "d", "--memory", "lots"},
      {"get", "x.firn", "-o", "d", "--memory", "1K"},
      {"get", "x.firn", "-o", "d", "--io-threads", "0"},
      {"get", "x.firn", "-o", "d", "--max-peers", "0"},
      {"get", "x.firn", "-o", "d", "--unknown"},
      {"seed", "x.firn"},
      {"seed", "x.firn", "d", "y.firn"},
      {"share"},
      {"share", "a", "b", "-o", "x.firn"},
      {"create", "a"},
      {"verify", "x.firn"},
  };
  for (const auto& words : wrong) {
    std::string line;
    for (const auto& word : words) line += word + " ";
    CAPTURE(line);
    CHECK(run(words).code == kUsage);
  }
}

TEST_CASE("malformed links, addresses and manifests are bad input, said with a reason") {
  tests::TempFolder folder;
  const std::string dir = folder.path();
  std::ofstream(dir + "/bad.firn") << "not a manifest";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"get", "firn:nonsense", "-o", dir},
        {"get", dir + "/bad.firn", "-o", dir},
        {"info", "firn:"},
        {"info", dir + "/bad.firn"},
        {"verify", dir + "/bad.firn", dir},
        {"create", dir + "/bad.firn", "-o", dir + "/x.firn", "--tracker", "nowhere:x"},
        {"doctor", "--kernels", "abacus"}}) {
    const Outcome outcome = run(words);
    CAPTURE(words[0]);
    CAPTURE(outcome.out);
    CHECK(outcome.code == kUsage);
    CHECK(outcome.out.find("firn: ") != std::string::npos);
  }
}

TEST_CASE("a manifest that is missing is an error of the disk") {
  tests::TempFolder folder;
  const std::string dir = folder.path(), missing = dir + "/missing.firn";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"get", missing, "-o", dir},
                                                {"info", missing},
                                                {"verify", missing, dir},
                                                {"seed", missing, dir}}) {
    const Outcome outcome = run(words);
    CAPTURE(words[0]);
    CHECK(outcome.code == static_cast<int>(ExitCode::kDisk));
    CHECK(outcome.out.find(missing) != std::string::npos);
  }
}

TEST_CASE("errors are events too under --json") {
  const Outcome outcome = run({"info", "firn:nonsense", "--json"});
  CHECK(outcome.code == kUsage);
  CHECK(outcome.out.find("\"event\":\"error\"") != std::string::npos);
  CHECK(outcome.out.find("\"code\":\"bad_input\"") != std::string::npos);
}

TEST_CASE("a port in use has an exit code of its own") {
  const int taken = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(taken, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(listen(taken, 1) == 0);
  REQUIRE(getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  tests::TempFolder folder;
  std::ofstream(folder.path() + "/file") << "content";
  const Outcome outcome = run({"share", folder.path() + "/file", "--listen",
                               "127.0.0.1:" + std::to_string(ntohs(address.sin_port))});
  CAPTURE(outcome.out);
  CHECK(outcome.code == static_cast<int>(ExitCode::kPortInUse));
  close(taken);
}

TEST_CASE("a command takes options from a configuration, and refuses what it cannot take") {
  tests::TempFolder folder;
  const std::string config = folder.path() + "/config.toml";
  const auto with = [&](const std::string& text, std::vector<std::string> words) {
    std::ofstream(config) << text;
    words.insert(words.end(), {"--config", config});
    return run(words);
  };
  const std::vector<std::string> info = {"info", "firn:nonsense"};
  CHECK(with("json = true\n", info).out.find("\"event\":\"error\"") != std::string::npos);
  CHECK(with("[get]\njson = true\n", info).out.find("\"event\"") == std::string::npos);
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"\nup-limt = 5\n", ":2: unknown key 'up-limt'; did you mean 'up-limit'?"},
      {"max-peers = 0\n", ":1: max-peers: 0 is not 1 to 20000"},
      {"memory = \"1M\"\n", ":1: memory: "},
      {"output = \"x\"\n", ":1: output: belongs to a single run"},
      {"seed = \n", ":1: "}};
  for (const auto& [text, said] : wrong) {
    const Outcome outcome = with(text, info);
    CHECK(outcome.code == kUsage);
    CHECK_MESSAGE(outcome.out.find(config + said) != std::string::npos, outcome.out);
  }
  CHECK(run({"info", "x", "--config", folder.path() + "/missing"}).code ==
        static_cast<int>(ExitCode::kDisk));
  CHECK(with("nonsense", {"get", "--help"}).code == 0);
}

TEST_CASE("config shows what options have, and where it comes from") {
  tests::TempFolder folder;
  const std::string config = folder.path() + "/config.toml";
  std::ofstream(config) << "up-limit = \"10M\"\ntracker = [\"a\", \"b\"]\n[get]\nseed = \"none\"\n"
                           "[bench.codec]\nrepeats = 3\n[share]\nprivate = true\n";
  const Outcome all = run({"config", "--config", config});
  CHECK(all.code == 0);
  const auto line_with = [](const Outcome& outcome, const std::string& start) {
    const std::size_t at = outcome.out.find("\n" + start + " ");
    if (at == std::string::npos) return std::string();
    return outcome.out.substr(at + 1, outcome.out.find('\n', at + 1) - at - 1);
  };
  const std::string limit = line_with(all, "up-limit");
  CHECK_MESSAGE(limit.find("10M") != std::string::npos, all.out);
  CHECK(limit.find(config + ":1") != std::string::npos);
  CHECK(limit.find("share, get, seed, ") != std::string::npos);
  CHECK(line_with(all, "tracker").find("a, b") != std::string::npos);
  CHECK(line_with(all, "private").find(":8") != std::string::npos);
  CHECK(line_with(all, "codec").find("default") != std::string::npos);
  const Outcome bench = run({"config", "bench", "codec", "--show", "--config", config});
  CHECK(line_with(bench, "repeats").find(config + ":6") != std::string::npos);
  CHECK(line_with(bench, "up-limit").empty());
  CHECK(run({"config", "gte"}).code == kUsage);
  std::ofstream(config) << "[get]\nseed = \"sometimes\"\n";
  const Outcome wrong = run({"config", "--config", config});
  CHECK(wrong.code == kUsage);
  CHECK_MESSAGE(wrong.out.find(config + ":2: seed: ") != std::string::npos, wrong.out);
}

TEST_CASE("a manifest made by create verifies until a byte changes") {
  tests::TempFolder folder;
  const std::string dir = folder.path();
  std::filesystem::create_directory(dir + "/data");
  std::ofstream(dir + "/data/one") << std::string(100'000, 'x');
  std::ofstream(dir + "/data/two") << "short";
  REQUIRE(run({"create", dir + "/data", "-o", dir + "/x.firn", "-q", "--no-authority"}).code == 0);
  CHECK(run({"verify", dir + "/x.firn", dir}).code == 0);
  CHECK(run({"info", dir + "/x.firn"}).out.find("data") != std::string::npos);
  std::ofstream(dir + "/data/two") << "shirt";
  const Outcome outcome = run({"verify", dir + "/x.firn", dir});
  CHECK(outcome.code == static_cast<int>(ExitCode::kVerifyFailed));
  CHECK(outcome.out.find("/data/two") != std::string::npos);
}

}  // namespace
}  // namespace firn::app
