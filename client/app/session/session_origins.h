// Fetches what the core wants from a content's origins.
#pragma once

#include <vector>

#include "client/app/origin/origin_plan.h"
#include "client/app/session/core_doors.h"
#include "client/app/session/session_host.h"
#include "client/app/session/session_plan.h"
#include "client/core/base/actions.h"

namespace firn::app {

// Main thread.
class SessionOrigins {
 public:
  SessionOrigins(const SessionHost& host, const SessionPlan& plan, CoreDoors& core)
      : host_(host), plan_(plan), core_(core) {}

  void fetch(const core::FetchFromOrigin& run);
  std::vector<OriginFigures> figures() const { return {}; }

 private:
  [[maybe_unused]] const SessionHost& host_;
  [[maybe_unused]] const SessionPlan& plan_;
  CoreDoors& core_;
};

}  // namespace firn::app
