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

constexpr const char* kRow =
    "{:<9} {:<24} {:>3} {:>6} {:>10} {:>10} {:>12} {:>12} {:>6} {:>7}  {:<20} {:<20} {}";

Json name_or_null(const std::optional<core::WhyNot>& why) {
  return why ? Json(why_not_name(*why)) : Json();
}

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

const char* why_not_name(core::WhyNot why) {
  using core::WhyNot;
  switch (why) {
    case WhyNot::kNotHeard:
      return "not_heard";
    case WhyNot::kWantsNothing:
      return "holds_all";
    case WhyNot::kSuspended:
      return "suspended";
    case WhyNot::kLastVersion:
      return "older_version";
    case WhyNot::kNoCredit:
      return "no_credit";
    case WhyNot::kNothingHeld:
      return "nothing_to_give";
    case WhyNot::kNothingProven:
      return "nothing_proven";
    case WhyNot::kOthersSend:
      return "others_send_it";
    case WhyNot::kNotAskedFor:
      return "not_asked_for";
    case WhyNot::kNoNews:
      return "nothing_new";
    case WhyNot::kFront:
      return "front_closed";
    case WhyNot::kSocketFull:
      return "socket_full";
    case WhyNot::kUplinkBusy:
      return "uplink_busy";
    case WhyNot::kRateLimit:
      return "rate_limit";
    case WhyNot::kOthersFirst:
      return "others_first";
    case WhyNot::kDiskPaused:
      return "disk_paused";
    case WhyNot::kMemoryFull:
      return "memory_full";
    case WhyNot::kOwesBlocks:
      return "owes_blocks";
  }
  return "";
}

std::string why_not_words(const std::optional<core::WhyNot>& why) {
  return why_not_words(std::string(why ? why_not_name(*why) : "-"));
}

std::string why_not_words(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::vector<std::string> peer_table(const std::string& content,
                                    const std::vector<core::PeerStatus>& peers) {
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("{}: {} peer{} connected", content, peers.size(), peers.size() == 1 ? "" : "s"));
  if (peers.empty()) return lines;
  lines.push_back(fmt::format(kRow, "peer", "address", "dir", "holds", "received", "sent", "down",
                              "up", "new", "silent", "none to it", "none from it", "state"));
  for (const core::PeerStatus& peer : peers) {
    const auto innovation = innovation_of(peer);
    lines.push_back(fmt::format(
        kRow, peer.id.short_text(), peer.endpoint, peer.outgoing ? "out" : "in",
        fmt::format("{:.1f}%", 100 * peer.held), format_bytes(peer.bytes_received),
        format_bytes(peer.bytes_sent), format_rate(peer.down_rate), format_rate(peer.up_rate),
        innovation ? fmt::format("{:.0f}%", 100 * *innovation) : "-",
        format_seconds(static_cast<double>(peer.silent_for / core::kSecond)),
        why_not_words(peer.not_sent), why_not_words(peer.not_received),
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
                    {"state", peer_state_name(peer.state)},
                    {"not_sent", name_or_null(peer.not_sent)},
                    {"not_received", name_or_null(peer.not_received)}});
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
