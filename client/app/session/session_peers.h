// The peers of one content: the calls under way, and what connections bring, on its way to the
// core.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "client/app/net/connections.h"
#include "client/app/session/core_doors.h"
#include "client/app/session/given_sources.h"
#include "client/app/session/session_host.h"
#include "client/app/session/session_plan.h"
#include "client/core/base/actions.h"
#include "proto/base/address.h"

namespace firn::app {

// Main thread.
class SessionPeers final : public PeerEvents {
 public:
  SessionPeers(const SessionHost& host, const SessionPlan& plan, CoreDoors& core,
               GivenSources& sources);
  // Hangs up.
  ~SessionPeers() override;

  // Of a private content; null: of others.
  const PrivateGreeting* greeting() const { return greeting_ ? &*greeting_ : nullptr; }

  void connect(const core::Connect& action);
  // Closes all connections after what is queued on them.
  void hang_up();

  void peer_opened(core::PeerKey peer, const proto::transport::PeerInfo& info,
                   std::uint64_t attempt) override;
  void connect_failed(std::uint64_t attempt, const Error& error) override;
  void peer_closed(core::PeerKey peer, const Error& error) override;
  void peer_broke_protocol(core::PeerKey peer, const Error& error) override;
  void peer_message(core::PeerKey peer, proto::PeerMessage message,
                    std::size_t frame_bytes) override;
  void blocks_departed(core::PeerKey peer, std::uint32_t blocks, std::size_t bytes) override;
  void manifest_part_departed(core::PeerKey peer) override;

 private:
  const SessionHost& host_;
  CoreDoors& core_;
  GivenSources& sources_;
  std::optional<PrivateGreeting> greeting_;
  std::map<std::uint64_t, Address> calls_;  // by attempt: those under way
};

}  // namespace firn::app
