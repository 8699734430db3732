// The shell command that --on-complete names, run once when the content is complete.
#pragma once

#include <memory>

#include "client/app/session/session_host.h"
#include "client/app/session/session_plan.h"

namespace firn::app {

// Main thread.
class CompletionCommand {
 public:
  CompletionCommand(const SessionHost& host, const SessionPlan& plan) : host_(host), plan_(plan) {}

  // Starts it, if the plan has one; the session gets a turn when it ends. `awaited`: also a session
  // that was told to stop awaits its end.
  void run(bool awaited);
  // Whether a session that leaves must wait for it. It may take as long as it likes, unless the
  // session was told to stop while it ran.
  bool holds_up(bool stopping) const { return running_ && (awaited_ || !stopping); }
  // It could not be started, or failed, which has been said.
  bool failed() const { return failed_; }

 private:
  const SessionHost& host_;
  const SessionPlan& plan_;
  bool running_ = false;
  bool awaited_ = false;
  bool failed_ = false;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>();  // the command may outlive this
};

}  // namespace firn::app
