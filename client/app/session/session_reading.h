// A session's content as readers see it, while its store is open.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client/app/coding/data_plane.h"
#include "client/app/reading/content_reading.h"
#include "client/app/session/core_doors.h"
#include "client/app/session/session_host.h"
#include "client/app/session/session_plan.h"

namespace firn::app {

// Main thread.
class SessionReading {
 public:
  SessionReading(const SessionHost& host, const SessionPlan& plan, CoreDoors& core)
      : host_(host), plan_(plan), core_(core) {}
  ~SessionReading() { end(); }
  SessionReading(const SessionReading&) = delete;
  SessionReading& operator=(const SessionReading&) = delete;

  // As ContentReading's; nothing below concerns anybody before.
  void begin(std::shared_ptr<store::ContentStore> store, std::vector<bool> verified,
             std::vector<bool> chosen);
  void verified(std::uint32_t generation);
  void lost(std::uint32_t generation, bool fetch_again);
  void choose(const std::vector<bool>& chosen);
  // In every turn: what readers need first goes to the core, if that has changed.
  void hand_over();
  // In every turn: generations that readers found changed or gone are lost, and perhaps fetched
  // again. `coding`: not null after begin().
  void repair(DataPlane* coding);
  void fetch_no_more();
  // A content that has completed can be read until its session is gone; others no longer than they
  // run.
  void end();

 private:
  const SessionHost& host_;
  const SessionPlan& plan_;
  CoreDoors& core_;
  std::shared_ptr<ContentReading> content_;  // null: not open
};

}  // namespace firn::app
