// Connections, handshakes, peer exchange and manifest transfer of the swarm core.
#include <algorithm>
#include <map>
#include <utility>

#include "client/core/policy/constants.h"
#include "client/core/swarm_impl.h"
#include "proto/address.h"
#include "proto/limits.h"

namespace firn::core {

namespace {
constexpr std::uint32_t kWireVersion = 1;

std::string endpoint_text(const Neighbour& n) {
  return to_text(Address{std::nullopt, n.contact.ip(), n.contact.port()});
}
std::string named(const Neighbour& n) {
  return n.id.text() + " at " + endpoint_text(n);
}

// What a peer that parts says, for people.
std::string said_with(const proto::Goodbye& goodbye) {
  static constexpr const char* kMeanings[] = {
      "it left",
      "it is shutting down",
      "it does not serve this content",
      "it speaks no common version",
      "it says that this peer broke the protocol",
      "it has banned this peer",
      "it has neighbours enough",
      "it left as nothing moved",
      "it is this very peer",
      "it is connected already",
  };
  static_assert(std::size(kMeanings) ==
                static_cast<std::size_t>(proto::GoodbyeReason::kDuplicate) + 1);
  const std::string meaning = kMeanings[static_cast<std::size_t>(goodbye.reason)];
  return goodbye.detail.empty() ? meaning : meaning + " (" + goodbye.detail + ")";
}
}  // namespace

Neighbour* SwarmCore::Impl::find(PeerKey peer) {
  return neighbours.find(peer);
}

void SwarmCore::Impl::notice(Notice::Kind kind, std::string text) {
  actions.push_back(Notice{kind, std::move(text)});
}

void SwarmCore::Impl::send(Neighbour& n, proto::PeerMessage message) {
  const std::size_t bytes = proto::wire_bytes(message);
  bytes_sent += bytes;
  n.traffic.sent(bytes, now);
  up.take(bytes);
  actions.push_back(Send{n.key, std::move(message)});
}

void SwarmCore::Impl::peer_opened(PeerKey peer, const PeerId& id, const std::string& ip,
                                  std::uint16_t port, std::uint64_t attempt) {
  const auto refuse = [&](proto::GoodbyeReason reason, const std::string& why = {}) {
    actions.push_back(Send{peer, proto::Goodbye{reason, ""}});
    actions.push_back(Close{peer});
    if (stopped) return;
    if (reason == proto::GoodbyeReason::kDuplicate) {
      book_opened(attempt, id);  // that address leads to a neighbour we have
    } else {
      book.failed(attempt, id == options.self, now, why);
    }
  };
  if (stopped) return refuse(proto::GoodbyeReason::kShuttingDown);
  if (id == options.self) return refuse(proto::GoodbyeReason::kSelf, "it is this very peer");
  if (book.banned(id, now)) return refuse(proto::GoodbyeReason::kBanned, "banned here");
  for (Neighbour& old : neighbours) {
    if (old.id != id) continue;
    // Both sides keep the connection that the lower id opened; of two such the newer one.
    const bool outgoing = attempt != 0;
    const bool new_fits = outgoing == (options.self < id);
    const bool old_fits = old.contact.outgoing() == (options.self < id);
    if (old_fits && !new_fits) return refuse(proto::GoodbyeReason::kDuplicate);
    drop(old, proto::GoodbyeReason::kDuplicate, "");
    break;
  }
  if (neighbours.size() >= neighbours_max() && !make_room(ip)) {
    return refuse(proto::GoodbyeReason::kTooManyPeers, "this peer has neighbours enough");
  }
  book_opened(attempt, id);
  auto n = std::make_unique<Neighbour>(peer, id, ip, port, attempt != 0, now);
  if (holdings) n->holds.set_shape(holdings->shape());
  Neighbour& added = neighbours.add(std::move(n));
  connections_due = 0;
  bound_history();
  NeighbourReport& past = history[id];
  past.id = id;
  past.endpoint = endpoint_text(added);
  // Who takes no part in peer exchange is not to be passed on by others either.
  const std::uint16_t told_port = options.peer_exchange ? options.listen_port : std::uint16_t{0};
  send(added, proto::Hello{kWireVersion, kWireVersion, content_id, told_port, options.agent,
                           holdings.has_value()});
}

void SwarmCore::Impl::book_opened(std::uint64_t attempt, const PeerId& id) {
  if (const std::string at = book.opened(attempt, id, now); !at.empty()) {
    notice(Notice::Kind::kInfo,
           "peer " + at + " proved the key " + id.text() + "; it is held to it from now on");
  }
}

// Parts with the neighbour that has been idle longest, if it has been for long. Otherwise with one
// of the network that has most places, if the newcomer's would still have fewer: keys are free, so
// whoever holds one address must not be able to take all places.
bool SwarmCore::Impl::make_room(const std::string& ip) {
  const auto idlest = std::min_element(
      neighbours.begin(), neighbours.end(),
      [](const Neighbour& a, const Neighbour& b) { return a.idle_since() < b.idle_since(); });
  if (idlest != neighbours.end() && now - idlest->idle_since() >= policy::kIdleTime) {
    drop(*idlest, proto::GoodbyeReason::kTooManyPeers, "");
    return true;
  }
  std::map<std::string, std::vector<Neighbour*>> networks;
  for (Neighbour& n : neighbours) networks[network_of(n.contact.ip())].push_back(&n);
  const auto most = std::max_element(
      networks.begin(), networks.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const auto own = networks.find(network_of(ip));
  const std::size_t held = own == networks.end() ? 0 : own->second.size();
  if (most == networks.end() || held + 1 >= most->second.size()) return false;
  const auto moved = [](const Neighbour* n) {
    return n->traffic.blocks_innovative() + n->pipe.blocks_sent();
  };
  drop(**std::min_element(most->second.begin(), most->second.end(),
                          [&](const auto* a, const auto* b) { return moved(a) < moved(b); }),
       proto::GoodbyeReason::kTooManyPeers, "");
  return true;
}

// Peers with fresh keys cost nothing, so the report names a bounded number of past ones: those that
// moved most.
void SwarmCore::Impl::bound_history() {
  if (history.size() < policy::kHistoryMax) return;
  std::map<PeerId, bool> present;
  for (const Neighbour& n : neighbours) present[n.id] = true;
  auto least = history.end();
  for (auto it = history.begin(); it != history.end(); ++it) {
    if (present.contains(it->first)) continue;
    const auto moved = [](const auto& entry) {
      return entry->second.blocks_received + entry->second.blocks_sent;
    };
    if (least == history.end() || moved(it) < moved(least)) least = it;
  }
  if (least != history.end()) history.erase(least);
}

void SwarmCore::Impl::forget(Neighbour& n, bool useless, const std::string& why) {
  NeighbourReport& past = history[n.id];
  past.complete = n.holds.has_everything();
  past.rank = n.holds.total_rank();
  past.blocks_received += n.grants.blocks_received();
  past.blocks_innovative += n.traffic.blocks_innovative();
  past.blocks_recoded += n.traffic.blocks_recoded();
  past.blocks_sent += n.pipe.blocks_sent();
  if (past.blocks_received == 0 && past.blocks_sent == 0) history.erase(n.id);
  // What was granted and never came is no load on the downlink.
  if (holdings) down.give_back(std::uint64_t{n.grants.outstanding()} * granted_block_bytes());
  book.closed(n.id, useless, now, why);
  fetch.peer_gone(n.key);
  std::erase(manifest_line, n.key);
  if (departure) departure->gone(n.key);
  if (source && n.pipe.blocks_sent() > 0 && !n.holds.has_everything()) source->neighbour_lost();
  const PeerKey key = n.key;
  extra.erase(key);
  neighbours.erase(key);
}

void SwarmCore::Impl::drop(Neighbour& n, proto::GoodbyeReason reason, const std::string& detail) {
  send(n, proto::Goodbye{reason, detail});
  actions.push_back(Close{n.key});
  forget(n, reason == proto::GoodbyeReason::kNotUseful,
         "left by this peer" + (detail.empty() ? "" : ": " + detail));
}

void SwarmCore::Impl::punish(const PeerId& id, proto::GoodbyeReason reason,
                             const std::string& what) {
  const std::uint32_t strikes = book.strike(id, now);
  const TimeUs span = policy::kBanTimes[std::min(strikes, policy::kBansMax) - 1];
  const auto at = std::find_if(neighbours.begin(), neighbours.end(),
                               [&](const Neighbour& n) { return n.id == id; });
  const std::string who = at == neighbours.end() ? id.text() : named(*at);
  notice(Notice::Kind::kWarning,
         "peer " + who + " " + what + "; banned for " + std::to_string(span / kSecond) + " s");
  if (reason == proto::GoodbyeReason::kBanned) discard_rows_of(id);
  if (at != neighbours.end()) drop(*at, reason, what);
}

void SwarmCore::Impl::peer_closed(PeerKey peer, const std::string& why) {
  if (Neighbour* n = find(peer)) forget(*n, false, why);
}

void SwarmCore::Impl::message(PeerKey peer, proto::PeerMessage&& message, std::size_t frame_bytes) {
  Neighbour* n = find(peer);
  if (!n) return;
  bytes_received += frame_bytes;
  if (holdings && std::holds_alternative<proto::Block>(message)) {
    down.settle(granted_block_bytes(), frame_bytes);
  } else {
    down.take(frame_bytes);
  }
  n->traffic.received(frame_bytes, now);
  if (!n->contact.greeted() && !std::holds_alternative<proto::Hello>(message) &&
      !std::holds_alternative<proto::Goodbye>(message)) {
    punish(n->id, proto::GoodbyeReason::kProtocolError, "did not begin with Hello");
    return;
  }
  std::visit([&](auto&& body) { on(*n, std::move(body)); }, std::move(message));
}

void SwarmCore::Impl::on(Neighbour& n, proto::Hello&& hello) {
  if (n.contact.greeted()) {
    punish(n.id, proto::GoodbyeReason::kProtocolError, "sent a second Hello");
    return;
  }
  if (hello.content_id != content_id) {
    drop(n, proto::GoodbyeReason::kNotServing, "another content");
    return;
  }
  if (hello.version_min > kWireVersion || hello.version_max < kWireVersion) {
    drop(n, proto::GoodbyeReason::kVersion, "this peer speaks version 1");
    return;
  }
  n.contact.greet(hello, now);
  book.welcomed(n.id);
  if (hello.listen_port != 0) {
    book.answers_at(n.id, Address{n.id, n.contact.ip(), hello.listen_port}, now);
    exchange_news = true;
    connections_due = std::min(connections_due, exchange_due(false));
  }
  share_peers(n, 0);
  if (holdings) {
    // A peer without the manifest could not understand a State; it sends one when it can.
    if (n.contact.has_manifest()) send_initial_state(n);
  } else {
    ask_for_manifest();
  }
}

void SwarmCore::Impl::share_peers(Neighbour& n, TimeUs came_since) {
  if (!options.peer_exchange) return;
  extra[n.key].told_peers_at = now;
  proto::PeerExchange exchange;
  for (const Neighbour& other : neighbours) {
    if (other.id == n.id || other.contact.listen_port() == 0 || !other.contact.greeted()) continue;
    if (other.contact.greeted_at() < came_since) continue;
    if (exchange.peers.size() == limits::kPeerExchangeMax) break;
    exchange.peers.push_back({other.id, other.contact.ip(), other.contact.listen_port()});
  }
  if (!exchange.peers.empty()) send(n, std::move(exchange));
}

void SwarmCore::Impl::on(Neighbour& n, proto::PeerExchange&& exchange) {
  if (!options.peer_exchange || now < extra[n.key].gossip_due) return;
  // The first comes with Hello, the second with the round of the others: soon after, perhaps. Those
  // after it are sent as far apart as this, and may take longer or shorter on their way.
  extra[n.key].gossip_due = extra[n.key].gossip_due == 0
                                ? now
                                : now + policy::kExchangeInterval / 2 - policy::kExchangeSlack;
  for (const proto::PeerEndpoint& endpoint : exchange.peers) book.add(endpoint, now);
}

void SwarmCore::Impl::on(Neighbour& n, proto::State&& state) {
  if (!holdings) {
    // We cannot understand it yet; but it shows that its sender has the manifest by now.
    n.contact.gains_manifest();
    ask_for_manifest();
    return;
  }
  if (!n.apply_state(std::move(state))) {
    punish(n.id, proto::GoodbyeReason::kProtocolError, "sent an impossible State");
    return;
  }
  if (departure) departure->acknowledged(n.key, n.pipe.acknowledged());
  // Its first State: if it had no manifest before, it has not understood what we have told it.
  if (!n.news.begun() || !n.contact.has_manifest()) send_initial_state(n);
  n.contact.gains_manifest();
  part_if_useless(n);
}

// Two peers that need nothing have nothing to say to each other.
bool SwarmCore::Impl::part_if_useless(Neighbour& n) {
  // Our last State must have left first, or it would not know that we are complete.
  if (!holdings || !complete || !n.holds.satisfied()) return false;
  if (n.news.complete_pending()) return false;
  // It will part from us as well: what it proves is looked at before that.
  if (departure && departure->safe(neighbours)) departure_proven = true;
  if (departure_proven) return false;
  drop(n, proto::GoodbyeReason::kNotUseful, "both complete");
  return true;
}

void SwarmCore::Impl::on(Neighbour& n, proto::Goodbye&& goodbye) {
  using Reason = proto::GoodbyeReason;
  const bool useless = goodbye.reason == Reason::kNotUseful || goodbye.reason == Reason::kSelf ||
                       goodbye.reason == Reason::kNotServing || goodbye.reason == Reason::kBanned ||
                       goodbye.reason == Reason::kVersion;
  if (goodbye.reason == Reason::kNotServing || goodbye.reason == Reason::kVersion ||
      goodbye.reason == Reason::kBanned || goodbye.reason == Reason::kProtocolError) {
    notice(Notice::Kind::kWarning,
           "peer " + named(n) + " refused us" +
               (goodbye.detail.empty() ? std::string() : ": " + goodbye.detail));
  }
  actions.push_back(Close{n.key});
  forget(n, useless, said_with(goodbye));
}

// --- manifest ---

void SwarmCore::Impl::on(Neighbour& n, proto::ManifestRequest&& request) {
  // A request of a few bytes makes an answer of many, so a part is made once the one before is out
  // of our hands. We may hear of that after the receiver has asked for the next one: a single
  // request may wait. A second one cannot come from a peer that has waited for its answers.
  if (extra[n.key].manifest_wanted) {
    punish(n.id, proto::GoodbyeReason::kProtocolError,
           "asked for parts of the manifest without waiting for them");
    return;
  }
  extra[n.key].manifest_wanted = request.offset;
  queue_manifest_part(n);
}

void SwarmCore::Impl::manifest_part_departed(PeerKey peer) {
  Neighbour* n = find(peer);
  if (!n) return;
  extra[n->key].manifest_part_leaves = false;
  queue_manifest_part(*n);
}

void SwarmCore::Impl::queue_manifest_part(Neighbour& n) {
  if (!extra[n.key].manifest_wanted || extra[n.key].manifest_part_leaves) return;
  manifest_line.push_back(n.key);
  send_manifest_parts();
}

// As many as the up limit allows now.
void SwarmCore::Impl::send_manifest_parts() {
  while (!manifest_line.empty() && up.ready(now)) {
    const PeerKey first = manifest_line.front();
    manifest_line.pop_front();
    send_manifest_part(*find(first));
  }
}

// A limited uplink sends smaller parts, so that each of several receivers gets one now and then and
// none takes us for dead.
std::uint64_t SwarmCore::Impl::manifest_part_bytes() const {
  if (up.unlimited()) return limits::kManifestPartBytes;
  return std::clamp<std::uint64_t>(up.rate() / policy::kManifestPartsPerSecond,
                                   policy::kManifestPartMin, limits::kManifestPartBytes);
}

void SwarmCore::Impl::send_manifest_part(Neighbour& n) {
  const std::uint64_t offset = *std::exchange(extra[n.key].manifest_wanted, std::nullopt);
  proto::ManifestPart part;
  if (holdings && offset < manifest_file.size()) {
    part.total_bytes = manifest_file.size();
    part.offset = offset;
    part.data = manifest_file.substr(offset, manifest_part_bytes());
  }
  extra[n.key].manifest_part_leaves = true;
  send(n, std::move(part));
}

// A neighbour that can be asked for the manifest now; null: there is none.
Neighbour* SwarmCore::Impl::manifest_holder() {
  for (Neighbour& n : neighbours) {
    if (n.contact.greeted() && n.contact.has_manifest() && fetch.may_ask(n.key, now)) return &n;
  }
  return nullptr;
}

// One at a time. A slow one is given up only where there is another to ask: it may be slow because
// a limit shares its uplink among many, and then its answer still comes.
void SwarmCore::Impl::ask_for_manifest() {
  if (holdings || manifest_found) return;
  if (fetch.source() != kNoPeer && !fetch.overdue(now)) return;
  if (Neighbour* n = manifest_holder()) send(*n, fetch.begin(n->key, now));
}

void SwarmCore::Impl::on(Neighbour& n, proto::ManifestPart&& part) {
  if (holdings || manifest_found) return;
  const ManifestFetch::Step step = fetch.part(n.key, part, now);
  switch (step.progress) {
    case ManifestFetch::Progress::kMore:
      progressed_at = now;
      send(n, step.next);
      break;
    case ManifestFetch::Progress::kDone:
      manifest_arrived(fetch.take());
      break;
    case ManifestFetch::Progress::kFalse:
      punish(n.id, proto::GoodbyeReason::kProtocolError, "sent a false manifest");
      ask_for_manifest();
      break;
    case ManifestFetch::Progress::kNone:
      ask_for_manifest();
      break;
  }
}

void SwarmCore::Impl::manifest_arrived(Manifest manifest) {
  manifest_found = true;
  progressed_at = now;
  actions.push_back(ManifestArrived{std::move(manifest)});
}

}  // namespace firn::core
