// What a content's data plane answers, on its way to the core, to the connections, to readers,
// or to what decides about the session's life.
#pragma once

#include "client/app/coding/coding_outcomes.h"
#include "client/app/session/core_doors.h"
#include "client/app/session/life_events.h"
#include "client/app/session/session_host.h"
#include "client/app/session/session_origins.h"
#include "client/app/session/session_plan.h"
#include "client/app/session/session_reading.h"

namespace firn::app {

// Main thread.
class CodingAnswers final : public CodingOutcomes {
 public:
  CodingAnswers(const SessionHost& host, const SessionPlan& plan, CoreDoors& core,
                SessionReading& reading, SessionOrigins& origins, LifeEvents& life)
      : host_(host), plan_(plan), core_(core), reading_(reading), origins_(origins), life_(life) {}

  void row_stored(std::uint32_t generation, std::uint32_t slot) override;
  void generation_decoded(std::uint32_t generation, core::DecodeOutcome outcome) override;
  void generation_fetched(std::uint32_t generation, core::DecodeOutcome outcome) override;
  void rows_judged(std::uint32_t generation, const RowVerdict& verdict) override;
  void check_made(core::PeerKey peer, proto::CheckReply reply) override;
  void leaves_made(core::PeerKey peer, proto::LeafReply reply) override;
  void block_made(std::uint64_t ticket, proto::Payload payload) override;
  void exchanged_block_made(std::uint64_t ticket, std::vector<std::uint8_t> vector,
                            proto::Payload payload) override;
  void generation_lost(std::uint32_t generation, const Error& error, bool fetch_again) override;
  void generation_regained(std::uint32_t generation) override;
  void store_warning(const std::string& text) override;
  void store_paused(const Error& error) override;
  void store_resumed() override;
  void store_finished() override;
  void store_spoiled(const Error& error) override;

 private:
  const SessionHost& host_;
  const SessionPlan& plan_;
  CoreDoors& core_;
  SessionReading& reading_;
  SessionOrigins& origins_;
  LifeEvents& life_;
};

}  // namespace firn::app
