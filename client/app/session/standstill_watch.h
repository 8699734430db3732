// Says why a download does not move, when that is news; that it goes on; and that it gives up when
// its plan's timeout is over.
#pragma once

#include <algorithm>
#include <optional>

#include "client/app/console/exit_codes.h"
#include "client/app/session/patience.h"
#include "client/app/session/session_host.h"
#include "client/app/session/session_origins.h"
#include "client/app/session/session_plan.h"
#include "client/core/swarm.h"

namespace firn::app {

// Main thread.
class StandstillWatch {
 public:
  StandstillWatch(const SessionHost& host, const SessionPlan& plan, const SessionOrigins& origins)
      : host_(host), plan_(plan), origins_(origins), patience_(plan.timeout) {}

  // When it is too late for the right envelope of the manifest, as all known sources have been
  // asked. Where the plan has a timeout that is the time. `foreign`: null where there is none.
  core::TimeUs foreign_due(const core::ForeignManifest* foreign) const;
  // When look() is due.
  core::TimeUs next_wake(const core::SwarmCore& core) const {
    return patience_.next(progressed_at(core));
  }
  // Why nothing comes, without secrets; empty while something does.
  Reason waits_for(const core::SwarmCore& core, core::TimeUs now) const;
  // Says what there is to say of a download that is to make progress. If it has waited for as long
  // as the plan allows, that is said as an error (where manifests came in wrong envelopes alone,
  // that is the error), and the exit code returned.
  [[nodiscard]] std::optional<ExitCode> look(const core::SwarmCore& core, core::TimeUs now);

 private:
  // A generation from a slow origin takes long, and bytes of it come all the while.
  core::TimeUs progressed_at(const core::SwarmCore& core) const {
    return std::max(core.counters().progressed_at, origins_.progressed_at());
  }

  const SessionHost& host_;
  const SessionPlan& plan_;
  const SessionOrigins& origins_;
  Patience patience_;
};

}  // namespace firn::app
