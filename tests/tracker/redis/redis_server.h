// A Redis server of a test's own, on a socket in a folder of its own.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/tracker/tracker_fixture.h"
#include "tracker/redis/connection.h"

extern char** environ;

namespace firn::tracker::test {

// Empty where it is not installed.
inline std::string redis_server_program() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string program = folder + "/redis-server";
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

// Whether tests can use Redis here: the program, and hiredis in this build.
inline bool lacks_redis() {
  RedisOptions options;
  return redis_server_program().empty() || !check_redis_options(options).ok();
}

class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> options = {}) : options_(std::move(options)) {
    start();
  }
  ~RedisServer() { kill(); }
  RedisServer(const RedisServer&) = delete;

  void start() {
    std::vector<std::string> words{
        redis_server_program(), "--port", "0", "--unixsocket", socket(), "--dir",
        folder_.path,           "--save", "",  "--daemonize",  "no"};
    words.insert(words.end(), options_.begin(), options_.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int out[2];
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    REQUIRE(::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    out_ = out[0];
    std::string said;
    for (char c = 0; said.find("accept connections") == std::string::npos; said += c)
      REQUIRE(::read(out_, &c, 1) == 1);
  }
  // As kill -9.
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
    ::close(out_);
  }
  // It takes connections, and answers nothing until it goes on.
  void halt() { ::kill(pid_, SIGSTOP); }
  void go_on() { ::kill(pid_, SIGCONT); }

  std::string socket() const { return folder_.path / "redis"; }
  RedisOptions options() const {
    RedisOptions options;
    options.address = parse_redis_address("unix://" + socket()).value();
    options.timeout = std::chrono::seconds(20);  // a busy machine
    return options;
  }
  // As another program would speak to it.
  Reply ask(Command command) const {
    auto connection = open_redis(options());
    REQUIRE_MESSAGE(connection.ok(), connection.error().message());
    return (*connection)->exchange({std::move(command)}).value().front();
  }

 private:
  TemporaryFolder folder_;
  const std::vector<std::string> options_;
  pid_t pid_ = 0;
  int out_ = -1;
};

}  // namespace firn::tracker::test
