#include "client/app/session/session_peers.h"

#include <fmt/format.h>

#include <utility>

namespace firn::app {

using core::SwarmCore;

SessionPeers::SessionPeers(const SessionHost& host, const SessionPlan& plan, CoreDoors& core,
                           GivenSources& sources)
    : host_(host), core_(core), sources_(sources) {
  if (plan.keys) greeting_.emplace(plan.keys, plan.core.self);
}

SessionPeers::~SessionPeers() {
  hang_up();
}

void SessionPeers::connect(const core::Connect& action) {
  calls_[action.attempt] = action.address;
  host_.console.debug("calling " + to_text(action.address));
  host_.connections.connect(*this, action.attempt, action.address, greeting());
}

void SessionPeers::hang_up() {
  host_.connections.close_all(*this);
}

void SessionPeers::peer_opened(core::PeerKey peer, const proto::transport::PeerInfo& info,
                               std::uint64_t attempt) {
  if (const auto call = calls_.extract(attempt)) {
    sources_.peer_heard(call.mapped(), false);
    host_.console.debug(
        fmt::format("{}: connected to peer {}", to_text(call.mapped()), info.id.short_text()));
  } else {
    host_.console.debug(fmt::format("peer {} at {} called", info.id.short_text(),
                                    to_text(Address{{}, info.ip, info.port})));
  }
  core_.feed([&](SwarmCore& core, core::TimeUs now) {
    core.peer_opened(peer, info.id, info.ip, info.port, attempt, now, info.round_trip_us);
  });
}

void SessionPeers::connect_failed(std::uint64_t attempt, const Error& error) {
  const auto call = calls_.extract(attempt);
  if (call) host_.console.debug(to_text(call.mapped()) + ": " + error.message());
  core_.feed(&SwarmCore::connect_failed, attempt, error);
  if (call) sources_.peer_heard(call.mapped(), error.code == ErrorCode::kWrongIdentity);
}

void SessionPeers::peer_closed(core::PeerKey peer, const Error& error) {
  host_.console.debug(error.message());
  core_.feed([&](SwarmCore& core, core::TimeUs now) { core.peer_closed(peer, now, error.detail); });
}

void SessionPeers::peer_broke_protocol(core::PeerKey peer, const Error& error) {
  core_.feed(&SwarmCore::peer_broke_protocol, peer, error.message());
}

void SessionPeers::peer_message(core::PeerKey peer, proto::PeerMessage message,
                                std::size_t frame_bytes) {
  core_.feed(&SwarmCore::message, peer, std::move(message), frame_bytes);
}

void SessionPeers::blocks_departed(core::PeerKey peer, std::uint32_t blocks, std::size_t bytes) {
  core_.feed(&SwarmCore::blocks_departed, peer, blocks, bytes);
}

void SessionPeers::manifest_part_departed(core::PeerKey peer) {
  core_.feed(&SwarmCore::manifest_part_departed, peer);
}

}  // namespace firn::app
