// A content on its way to another folder: takes content_move.h's steps on a worker, and records
// each in the store before it begins. The content has no session meanwhile. A move that fails is
// undone: the content stays where it was.
//
// Main thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/app/console/console.h"
#include "client/app/daemon/content_move.h"
#include "client/app/daemon/kept_record.h"
#include "client/app/daemon/worker_task.h"
#include "client/app/runtime/event_loop.h"

namespace firn::app {

class Relocation {
 public:
  // What it works with; all outlive it.
  struct Host {
    WorkerPool& workers;
    Console& console;
    EventLoop& loop;
  };
  // `content` is what is kept, which it changes as it goes on.
  Relocation(const Host& host, KeptRecord& content) : host_(host), content_(content) {}

  bool active() const { return content_->move != KeptContent::Move::kNone; }
  bool busy() const { return task_.busy(); }
  // Why the last move failed; empty: it did not.
  const std::string& failure() const { return failure_; }
  // Another begins.
  void forget_failure() { failure_.clear(); }

  // Starts what is due, while it is active and no session uses the content.
  void turn();

 private:
  // What a step has come to.
  struct Outcome {
    Status status = Done{};
    bool goes_on = false;  // the step needs another call
  };
  void done(const Outcome& outcome);
  void go_back(const Error& error);
  void went_back(const Status& status);
  bool record(KeptContent to);

  const Host host_;
  KeptRecord& content_;
  std::shared_ptr<ContentMove> move_;  // null: opened by the next step
  std::optional<Error> why_back_;      // it is being undone
  std::string failure_;
  core::TimeUs again_at_ = core::kNever;  // not before, as the store could not be written
  WorkerTask task_;
};

}  // namespace firn::app
