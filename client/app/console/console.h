// What `firn` says: stdout carries the link and the lines of --json and nothing else; stderr is for
// people (a progress bar if it is a terminal, lines otherwise); --log FILE keeps what --log-level
// says. The secret of a private link goes to stdout alone, in the link that is printed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/app/console/events.h"
#include "client/app/console/exit_codes.h"
#include "client/app/console/progress_bar.h"
#include "client/app/console/progress_display.h"
#include "client/app/console/repeated_notices.h"
#include "proto/base/result.h"

namespace spdlog {
class logger;
}

namespace firn {
class LogSink;
}

namespace firn::app {

struct ConsoleOptions {
  bool json = false;
  bool quiet = false;    // stderr: errors alone
  int verbosity = 0;     // 1: debug messages too
  std::string log_file;  // empty: none
  std::string log_level = "info";
};

// Main thread.
class Console {
 public:
  // Errors: the log file cannot be written.
  static Result<std::unique_ptr<Console>> open(const ConsoleOptions& options);
  ~Console();

  bool json() const { return options_.json; }
  bool shows_progress() const { return display_.shown(); }
  bool verbose() const { return options_.verbosity > 0; }

  // A line on stdout, flushed: the link, a table.
  void print(const std::string& line) { print(std::vector{line}); }
  void print(const std::vector<std::string>& lines);
  // Whether stdout did not take something, which has been said. Not where it was a terminal that
  // has closed.
  bool output_failed() const { return output_failed_; }
  // Prints what hold_events() still keeps back.
  void finish();
  // Keeps events back until the next print(): a link comes first.
  void hold_events() { holding_ = true; }
  // A line on stdout if --json was given. The log lacks its member `token`.
  void event(const Json& event);

  // A line on stderr that was asked for: also with -q, and with its secrets, which the log lacks.
  void show(const std::string& line);
  void debug(const std::string& text);
  // `event`: without --json nothing, with it a notice event; `content`: which content, if one.
  void info(const std::string& text, const std::optional<ContentId>& content = {});
  void warning(const std::string& text, const std::optional<ContentId>& content = {});
  // The same for what several contents may find out: people hear it from one of them alone.
  void shared_info(const std::string& text, const ContentId& content);
  void shared_warning(const std::string& text, const ContentId& content);
  // The same for a notice that strangers can cause without end (repeated_notices.h).
  void repeated_notice(const core::Notice& notice, const ContentId& content, core::TimeUs now);
  // What was passed over of these, where it is time to say so: once a second. nullopt: all of it,
  // at the end.
  void tell_passed_over(std::optional<core::TimeUs> now);
  void error(const Error& error, const std::optional<ContentId>& content = {});
  void error(const std::string& code, const std::string& text,
             const std::optional<ContentId>& content = {});

  // Begins the log anew under its name, as after another program moved it away. Says what it did.
  void reopen_log();

  // Shown as ProgressDisplay says.
  void progress(const ProgressFigures& figures);
  // Some other work's progress ("hashing"), in the same place.
  void progress(const std::string& what, std::uint64_t done, std::uint64_t total);
  // The same for several things at once: `table` where lines can be redrawn, else `summary`.
  // `table` fits table_room().
  void progress(const std::vector<std::string>& table, const std::string& summary);
  struct Room {
    std::size_t columns = 0;
    std::size_t lines = 0;
  };
  Room table_room() const;
  // A line about one of these things where no table is redrawn. No event.
  void progress_change(const std::string& line);
  void clear_progress();

 private:
  explicit Console(const ConsoleOptions& options);
  void log_failed(const std::string& failure);
  void say(const std::string& line);
  void put_out(const std::string& line);
  void put_error(const std::string& line);
  void show_progress(const std::string& escaped_text);
  bool first_to_say(const std::string& text, const ContentId& content);

  const ConsoleOptions options_;
  const bool stdout_terminal_;
  bool output_failed_ = false;
  ProgressDisplay display_;
  std::map<std::string, ContentId> said_by_;  // what was shared, and which content says it
  RepeatedNotices repeated_;
  bool holding_ = false;
  std::vector<std::string> held_;
  std::shared_ptr<LogSink> sink_;  // none without a log
  std::shared_ptr<spdlog::logger> log_;
  bool log_failed_ = false;
};

}  // namespace firn::app
