// Fetches what the core wants from a content's origins: chooses them when the store is open, and
// stands between what fetches (client/app/origin/origin_runs.h), core, data plane and console.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/app/coding/data_plane.h"
#include "client/app/origin/origin_plan.h"
#include "client/app/origin/origin_runs.h"
#include "client/app/session/core_doors.h"
#include "client/app/session/session_host.h"
#include "client/app/session/session_plan.h"
#include "client/core/base/actions.h"

namespace firn::app {

// Main thread.
class SessionOrigins final : private OriginEvents {
 public:
  SessionOrigins(const SessionHost& host, const SessionPlan& plan, CoreDoors& core)
      : host_(host), plan_(plan), core_(core) {}

  // The core has started. `coding` is there until end(), or as long as this object.
  void begin(DataPlane& coding);
  // Nothing is under way any more, or begun. The figures stay.
  void end();

  void fetch(const core::FetchFromOrigin& asked);
  // The data plane's answer for a generation.
  void written(std::uint32_t generation, core::DecodeOutcome outcome);
  // The store takes nothing for now, or takes something again.
  void pause(bool paused);
  void wake(core::TimeUs now);
  core::TimeUs next_wake() const;

  std::vector<OriginFigures> figures() const;
  // When bytes came last; 0: none have.
  core::TimeUs progressed_at() const { return runs_ ? runs_->progressed_at() : 0; }
  // Of each origin why nothing comes from it, for people; without the manifest, why of none.
  std::vector<std::string> standing() const;

 private:
  std::shared_ptr<Buffer> take_buffer(std::uint32_t generation) override;
  void came(std::uint32_t generation, std::shared_ptr<Buffer> data) override;
  bool wants(std::uint32_t generation) const override;
  void answer(std::uint32_t generation, bool verified) override;
  void open(bool open) override;
  void lack(const core::GenerationSet& lacking) override;
  void say(bool warning, const std::string& text) override;
  void debug(const std::string& text) override;

  const SessionHost& host_;
  const SessionPlan& plan_;
  CoreDoors& core_;
  DataPlane* coding_ = nullptr;
  std::unique_ptr<OriginRuns> runs_;   // null: there is no origin, or it has ended
  std::vector<OriginFigures> at_end_;  // then
};

}  // namespace firn::app
