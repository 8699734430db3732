// What `firn` says: stdout carries the link and the lines of --json and nothing else; stderr is for
// people (the progress bar only if it is a terminal); --log FILE keeps everything.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/app/events.h"
#include "client/app/exit_codes.h"
#include "client/app/progress_bar.h"
#include "proto/result.h"

namespace spdlog {
class logger;
}

namespace firn::app {

struct ConsoleOptions {
  bool json = false;
  bool quiet = false;    // stderr: errors alone
  int verbosity = 0;     // 1: debug messages too
  std::string log_file;  // empty: none
};

// Main thread.
class Console {
 public:
  // Errors: the log file cannot be written.
  static Result<std::unique_ptr<Console>> open(const ConsoleOptions& options);
  ~Console();

  bool json() const { return options_.json; }
  bool shows_progress() const { return terminal_ && !options_.quiet; }

  // A line on stdout, flushed: the link, a table.
  void print(const std::string& line);
  // Keeps events back until the next print(): a link comes first.
  void hold_events() { holding_ = true; }
  // A line on stdout if --json was given.
  void event(const Json& event);

  void debug(const std::string& text);
  // `event`: without --json nothing, with it a notice event; `content`: which content, if one.
  void info(const std::string& text, const std::optional<ContentId>& content = {});
  void warning(const std::string& text, const std::optional<ContentId>& content = {});
  void error(const Error& error, const std::optional<ContentId>& content = {});
  void error(const std::string& code, const std::string& text,
             const std::optional<ContentId>& content = {});

  // Draws the bar over the one before; nothing if stderr is no terminal.
  void progress(const ProgressFigures& figures);
  // Some other work's progress ("hashing"), in the same place.
  void progress(const std::string& what, std::uint64_t done, std::uint64_t total);
  void clear_progress();

 private:
  explicit Console(const ConsoleOptions& options);
  void say(const std::string& line);
  void draw(std::string line);

  const ConsoleOptions options_;
  const bool terminal_;
  std::string bar_;  // as drawn
  bool holding_ = false;
  std::vector<std::string> held_;
  std::shared_ptr<spdlog::logger> log_;
};

}  // namespace firn::app
