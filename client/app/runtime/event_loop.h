// The main thread's event loop (libuv): one wake-up from other threads, one timer, signals, and
// child processes. Everything else in client/app is plain code that this loop calls.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/core/base/types.h"
#include "proto/base/result.h"

struct uv_loop_s;

namespace firn::app {

// All members belong to the thread that runs the loop, except wake().
class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Monotonic.
  core::TimeUs now() const;

  // What a turn of the loop does: called after wake(), and at the time of wake_at().
  void on_turn(std::function<void()> turn);

  // Any thread; several wakes may end in one turn. Cheap.
  void wake();
  // The next turn comes at `when` at the latest; replaces an earlier wish. kNever: no timer.
  void wake_at(core::TimeUs when);

  // SIGINT, SIGTERM and SIGUSR1 go to `handler`, with their number, instead of ending the process;
  // SIGHUP too, unless the process was started with it ignored.
  void on_signal(std::function<void(int)> handler);

  // Runs `command` with /bin/sh -c, with additional environment variables; its stdout goes to our
  // stderr (ours is for machines). `done` gets 0 or what it failed with (128 + signal if killed).
  Status run_shell(const std::string& command,
                   const std::vector<std::pair<std::string, std::string>>& environment,
                   std::function<void(int)> done);

  // For what listens besides: its handles are closed, or closing, before this is destroyed.
  uv_loop_s* uv();

  // Until stop().
  void run();
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace firn::app
