#include "client/app/session/peer_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/app/console/quantities.h"

namespace firn::app {
namespace {

// Innovative blocks among those received; nullopt: none have come.
std::optional<double> innovation_of(const core::PeerStatus& peer) {
  if (peer.blocks_received == 0) return std::nullopt;
  return static_cast<double>(peer.blocks_innovative) / static_cast<double>(peer.blocks_received);
}

constexpr const char* kRow = "{:<9} {:<24} {:>3} {:>6} {:>10} {:>10} {:>12} {:>12} {:>6} {:>7}  {}";

}  // namespace

const char* peer_state_name(core::PeerStatus::State state) {
  using State = core::PeerStatus::State;
  switch (state) {
    case State::kGreeting:
      return "greeting";
    case State::kWaiting:
      return "waiting";
    case State::kStuck:
      return "stuck";
    case State::kBoth:
      return "both ways";
    case State::kReceives:
      return "receives";
    case State::kSends:
      return "sends";
    case State::kSilent:
      return "silent";
    case State::kIdle:
      return "idle";
  }
  return "";
}

std::vector<std::string> peer_table(const std::string& content,
                                    const std::vector<core::PeerStatus>& peers) {
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("{}: {} peer{} connected", content, peers.size(), peers.size() == 1 ? "" : "s"));
  if (peers.empty()) return lines;
  lines.push_back(fmt::format(kRow, "peer", "address", "dir", "holds", "received", "sent", "down",
                              "up", "new", "silent", "state"));
  for (const core::PeerStatus& peer : peers) {
    const auto innovation = innovation_of(peer);
    lines.push_back(fmt::format(
        kRow, peer.id.short_text(), peer.endpoint, peer.outgoing ? "out" : "in",
        fmt::format("{:.1f}%", 100 * peer.held), format_bytes(peer.bytes_received),
        format_bytes(peer.bytes_sent), format_rate(peer.down_rate), format_rate(peer.up_rate),
        innovation ? fmt::format("{:.0f}%", 100 * *innovation) : "-",
        format_seconds(static_cast<double>(peer.silent_for / core::kSecond)),
        std::string(peer_state_name(peer.state)) + (peer.authority ? ", authority" : "")));
  }
  return lines;
}

Json peers_json(const std::vector<core::PeerStatus>& peers) {
  Json list = Json::array();
  for (const core::PeerStatus& peer : peers) {
    const auto innovation = innovation_of(peer);
    list.push_back({{"peer", peer.id.text()},
                    {"endpoint", peer.endpoint},
                    {"agent", peer.agent},
                    {"direction", peer.outgoing ? "out" : "in"},
                    {"authority", peer.authority},
                    {"held", peer.held},
                    {"rank", peer.rank},
                    {"bytes_received", peer.bytes_received},
                    {"bytes_sent", peer.bytes_sent},
                    {"down_rate", peer.down_rate},
                    {"up_rate", peer.up_rate},
                    {"blocks_received", peer.blocks_received},
                    {"blocks_innovative", peer.blocks_innovative},
                    {"blocks_sent", peer.blocks_sent},
                    {"innovation", innovation ? Json(*innovation) : Json()},
                    {"connected_seconds", 1e-6 * static_cast<double>(peer.connected_for)},
                    {"silent_seconds", 1e-6 * static_cast<double>(peer.silent_for)},
                    {"state", peer_state_name(peer.state)}});
  }
  return list;
}

Json bans_json(const std::vector<core::Ban>& bans) {
  Json list = Json::array();
  for (const core::Ban& ban : bans)
    list.push_back({{"peer", ban.id.text()},
                    {"ip", ban.ip.empty() ? Json() : Json(ban.ip)},
                    {"why", ban.why},
                    {"strikes", ban.strikes},
                    {"seconds_left", 1e-6 * static_cast<double>(ban.left)}});
  return list;
}

Json peers_event(const ContentId& content, const std::vector<core::PeerStatus>& peers) {
  return about({{"event", "peers"}, {"peers", peers_json(peers)}}, content);
}

}  // namespace firn::app
