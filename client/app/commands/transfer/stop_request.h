// SIGINT, SIGTERM and the end of the terminal while a command reads files and no event loop runs.
#pragma once

#include <functional>
#include <string>

#include <csignal>

#include "client/app/console/console.h"
#include "client/app/console/exit_codes.h"

namespace firn::app {

// While one exists (one at a time) such a signal is noted, and a second SIGINT or SIGTERM ends the
// process with ExitCode::kInterrupted. An EventLoop that begins to take signals meanwhile gets them
// instead. SIGHUP is left as it is unless it tells of a terminal that closes
// (proto/program/hangup.h).
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  static bool requested();
  // For what polls: CreateOptions::cancelled, OpenOptions::cancelled.
  static std::function<bool()> poll() { return requested; }

 private:
  const bool ends_at_hangup_;  // the terminal may go while this exists
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
  struct sigaction hangup_ {};
};

// As fail() (commands/running.h), but kCancelled is no fault: `consequence` says what became of the
// work, such as "nothing was written".
ExitCode fail_or_stop(Console& console, const Error& error, const std::string& consequence);

}  // namespace firn::app
