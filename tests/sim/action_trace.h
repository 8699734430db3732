// A fingerprint of what swarm cores decide: a hash over all actions of all steps, in the order of
// simulated time. Two builds of the core decide alike where the same scenario and seed give the
// same hash. scripts/swarm traces compares builds by it.
//
// A trace is kept only where the environment names a file in FIRN_TRACES, as it costs time. At the
// end of the run its line is appended there: seed, peers, time of the last step, actions, hash.
//
// Steps without actions leave no mark, so that a core may wake more or less often in vain.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "client/core/base/actions.h"

namespace firn::sim {

class ActionTrace {
 public:
  explicit ActionTrace(std::uint64_t seed);
  ~ActionTrace();
  ActionTrace(const ActionTrace&) = delete;
  ActionTrace& operator=(const ActionTrace&) = delete;

  // What the core of `peer` wants done, as it returned it at simulated time `at`.
  void step(core::TimeUs at, std::size_t peer, const std::vector<core::Action>& actions);

 private:
  void add(std::uint64_t number);
  void add(std::span<const std::uint8_t> bytes);
  void add(std::string_view text);
  void add(const PeerId& id) { add(std::span<const std::uint8_t>(id.bytes)); }
  void add(const Address& address);
  void add(const proto::PeerMessage& message);
  void add(const core::Connect& action);
  void add(const core::Close& action);
  void add(const core::Send& action);
  void add(const core::SendBlock& action);
  void add(const core::StoreRow& action);
  void add(const core::MarkProven& action);
  void add(const core::FetchFromOrigin& action);
  void add(const core::Decode& action);
  void add(const core::DropRows& action);
  void add(const core::DropSlots& action);
  void add(const core::JudgeRows& action);
  void add(const core::MakeCheck& action);
  void add(const core::MakeLeaves& action);
  void add(const core::AnnounceTo& action);
  void add(const core::FetchManifestFrom& action);
  void add(const core::KeepManifestPart& action);
  void add(const core::ManifestArrived& action);
  void add(const core::ContentComplete& action);
  void add(const core::Finished& action);
  void add(const core::Notice& action);
  void add(const core::DoubtRows& action);

  const char* const path_;
  const std::uint64_t seed_;
  std::uint64_t hash_ = 0xcbf29ce484222325;
  core::TimeUs last_ = 0;
  std::size_t peers_ = 0;
  std::uint64_t actions_ = 0;
};

}  // namespace firn::sim
