// Whether what an unfinished download has on the disk is where it was (client/store/work_mark.h).
// A disk that is not mounted leaves an empty folder, in which the download would begin anew, on
// another disk. So it is looked for before a session starts, and every few seconds while one runs
// and until it is back.
//
// Main thread; a worker looks.
#pragma once

#include <string>

#include "client/app/console/console.h"
#include "client/app/daemon/kept_record.h"
#include "client/app/daemon/worker_task.h"
#include "client/app/runtime/event_loop.h"

namespace firn::app {

class WorkWatch {
 public:
  static constexpr core::TimeUs kLookInterval = 3 * core::kSecond;

  // What it works with, and what is kept of the content and its name; all outlive it.
  WorkWatch(WorkerPool& workers, Console& console, EventLoop& loop, const KeptRecord& content,
            const std::string& name)
      : workers_(workers), console_(console), loop_(loop), content_(content), name_(name) {}

  // A session may start: there is nothing to look for, or it was there.
  bool there() const { return !marked() || state_ == State::kThere; }
  // A session must leave. People have been told.
  bool away() const { return marked() && state_ == State::kAway; }
  // Why it is away.
  const std::string& reason() const { return reason_; }

  // Begins a look, if one is due; the loop wakes when it has found something new.
  void look();
  // A look is due before there() holds again.
  void forget() {
    state_ = State::kUnknown;
    look_at_ = 0;
  }

 private:
  enum class State { kUnknown, kThere, kAway };
  bool marked() const { return !content_->mark.empty() && content_->finished_at == 0; }
  void looked(const Result<bool>& there);

  WorkerPool& workers_;
  Console& console_;
  EventLoop& loop_;
  const KeptRecord& content_;
  const std::string& name_;
  State state_ = State::kUnknown;
  std::string reason_;
  core::TimeUs look_at_ = 0;
  WorkerTask task_;
};

}  // namespace firn::app
