#include "client/core/mesh/membership.h"

#include <algorithm>
#include <memory>

#include "client/core/base/constants.h"
#include "proto/base/address.h"
#include "proto/base/address_kind.h"

namespace firn::core {

// So many peers must say that this one sends false blocks before a person is told. Less: liars can
// alarm people; more: bad memory is found late.
constexpr std::size_t kAccusersToTell = 3;

using proto::GoodbyeReason;

namespace {

constexpr std::uint32_t kWireVersion = 1;

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
  static_assert(std::size(kMeanings) == static_cast<std::size_t>(GoodbyeReason::kDuplicate) + 1);
  const std::string meaning = kMeanings[static_cast<std::size_t>(goodbye.reason)];
  return goodbye.detail.empty() ? meaning : meaning + " (" + goodbye.detail + ")";
}

// For how long a peer is not called that was left so, or left so. Others may need its place.
TimeUs rest_after(GoodbyeReason reason) {
  if (reason == GoodbyeReason::kNotUseful) return kUselessTime;
  return reason == GoodbyeReason::kTooManyPeers ? kRefusedTime : 0;
}

}  // namespace

Membership::Membership(const Context& context, Life& life, Trackers& trackers, Outbox& outbox,
                       const std::vector<Part*>& parts)
    : context_(context),
      life_(life),
      trackers_(trackers),
      outbox_(outbox),
      book_(context.options.self),
      count_(context, life, trackers, book_, neighbours_),
      parts_(parts) {
  for (const Address& address : context.options.peers) book_.add(address, true, context.now);
}

// --- connections that come ---

// Where it starves, neighbours that do nothing are left for addresses that have not been tried.
void Membership::leave_idle() {
  if (!count_.called_enough()) return;
  for (std::size_t left = kCallsAtOnce; left > 0; --left) {
    Neighbour* idle = nullptr;
    for (Neighbour& n : neighbours_) {
      const TimeUs patience = n.traffic.blocks_innovative() > 0 ? kIdleTime : kStarvingTime;
      if (context_.now - n.idle_since() >= patience &&
          (!idle || n.idle_since() < idle->idle_since()))
        idle = &n;
    }
    if (!idle) return;
    drop(*idle, GoodbyeReason::kTooManyPeers, "nothing moves");
  }
}

void Membership::step() {
  trackers_.announce(lonely(), wants_addresses());
  if (count_.review()) leave_idle();
  while (count_.wants_to_call()) {
    const auto next = book_.next_call(context_.now);
    if (!next) return;
    count_.called();
    outbox_.push(Connect{next->attempt, next->address});
  }
}

// It starves, and trackers know of more peers than it has heard of.
bool Membership::wants_addresses() const {
  return count_.starves() && trackers_.swarm_told() > book_.size() + 1;  // it counts us
}

// This peer needs more of the swarm than it has found: neighbours, of more use than those it has
// met, or the manifest.
bool Membership::lonely() const {
  return neighbours_.empty() || !life_.has_manifest() || wants_addresses();
}

TimeUs Membership::next_due() {
  TimeUs at = trackers_.next_due(lonely());
  if (count_.wants_to_call()) at = std::min(at, book_.next_due());
  const TimeUs began = life_.began_at();
  if (context_.now - began < kMeshTime) at = std::min(at, began + kMeshTime);
  return std::min(at, count_.next_due());
}

void Membership::connect_failed(std::uint64_t attempt, const Error& error) {
  if (const std::string at = book_.describe_once(attempt); !at.empty()) {
    outbox_.warn("peer " + at + ": " + error.message() + "; trying again from time to time");
  }
  book_.failed(attempt, error.code == ErrorCode::kWrongIdentity, context_.now,
               error.detail.empty() ? error.message() : error.detail);
}

void Membership::refuse(PeerKey peer, std::uint64_t attempt, const PeerId& id, GoodbyeReason reason,
                        const std::string& why) {
  outbox_.push(Send{peer, proto::Goodbye{reason, ""}});
  outbox_.push(Close{peer});
  if (life_.stopped()) return;
  if (reason == GoodbyeReason::kDuplicate) {
    book_opened(attempt, id);  // that address leads to a neighbour we have
  } else {
    book_.failed(attempt, id == context_.options.self, context_.now, why);
  }
}

// Both sides keep the connection that the lower id opened; of two such the newer one.
bool Membership::keeps_other_connection(const PeerId& id, bool outgoing) {
  Neighbour* const old = neighbours_.find(id);
  if (!old) return false;
  const bool new_fits = outgoing == (context_.options.self < id);
  const bool old_fits = old->contact.outgoing() == (context_.options.self < id);
  if (old_fits && !new_fits) return true;
  drop(*old, GoodbyeReason::kDuplicate, "");
  return false;
}

Neighbour* Membership::opened(PeerKey peer, const PeerId& id, const std::string& ip,
                              std::uint16_t port, std::uint64_t attempt, bool has_manifest) {
  const Options& options = context_.options;
  const auto no = [&](GoodbyeReason reason, const std::string& why) -> Neighbour* {
    refuse(peer, attempt, id, reason, why);
    return nullptr;
  };
  if (life_.stopped()) return no(GoodbyeReason::kShuttingDown, "");
  if (id == options.self) return no(GoodbyeReason::kSelf, PeerBook::kOwnIdentity);
  if (book_.banned(id, context_.now)) return no(GoodbyeReason::kBanned, "banned here");
  if (keeps_other_connection(id, attempt != 0)) return no(GoodbyeReason::kDuplicate, "");
  const bool called = attempt != 0;
  if (neighbours_.size() >= count_.places_for(called) && !make_room(ip, called)) {
    return no(GoodbyeReason::kTooManyPeers, "this peer has neighbours enough");
  }
  book_opened(attempt, id);
  Neighbour& added =
      neighbours_.add(std::make_unique<Neighbour>(peer, id, ip, port, attempt != 0, context_.now));
  history_.came(added, neighbours_);
  count_.note();
  // A peer that takes no part in peer exchange is not to be passed on by others either.
  const std::uint16_t told_port = options.peer_exchange ? options.listen_port : std::uint16_t{0};
  outbox_.send(added, proto::Hello{kWireVersion, kWireVersion, context_.content_id, told_port,
                                   options.agent, has_manifest, certificate()});
  return &added;
}

void Membership::book_opened(std::uint64_t attempt, const PeerId& id) {
  if (const std::string at = book_.opened(attempt, id); !at.empty()) {
    outbox_.inform("peer " + at + " proved the key " + id.text() +
                   "; it is held to it from now on");
  }
}

bool Membership::make_room(const std::string& ip, bool called) {
  const bool spares_called = !called && count_.spares_called();
  return give_place_of(eviction_.gives_way(neighbours_, ip, spares_called, context_.now));
}

bool Membership::give_place_of(Neighbour* gives_way) {
  if (gives_way) drop(*gives_way, GoodbyeReason::kTooManyPeers, "");
  return gives_way != nullptr;
}

bool Membership::greeted(Neighbour& n, const proto::Hello& hello) {
  if (n.contact.greeted()) {
    punish(n.id, GoodbyeReason::kProtocolError, "sent a second Hello");
    return false;
  }
  if (hello.content_id != context_.content_id) {
    drop(n, GoodbyeReason::kNotServing, "another content");
    return false;
  }
  if (hello.version_min > kWireVersion || hello.version_max < kWireVersion) {
    drop(n, GoodbyeReason::kVersion, "this peer speaks version 1");
    return false;
  }
  n.contact.greet(hello);
  if (n.contact.outgoing() && count_.too_many() &&
      !give_place_of(Eviction::of_least_use(neighbours_, context_.now))) {
    drop(n, GoodbyeReason::kTooManyPeers, "");
    return false;
  }
  book_.welcomed(n.id);
  if (hello.listen_port != 0) {
    book_.answers_at(n.id, Address{n.id, n.contact.ip(), hello.listen_port}, context_.now);
  }
  return true;
}

void Membership::heard_of(const std::vector<proto::PeerEndpoint>& endpoints,
                          const Neighbour& from) {
  const LinkFacts* const link = context_.options.link;
  const bool in_private_range = link == nullptr || link->in_private_range;
  const std::string& speaker = from.contact.ip();
  for (const proto::PeerEndpoint& endpoint : endpoints) {
    if (may_be_named_by(speaker, endpoint.ip, in_private_range))
      book_.add(endpoint, context_.now, PeerBook::Origin::kGossip, prefix_of(speaker));
  }
}

void Membership::heard_of(const std::vector<proto::PeerEndpoint>& endpoints,
                          const std::string& source) {
  for (const proto::PeerEndpoint& endpoint : endpoints)
    book_.add(endpoint, context_.now, PeerBook::Origin::kTracker, source);
}

// --- connections that go ---

void Membership::forget(Neighbour& n, TimeUs rest, const std::string& why) {
  count_.note();
  history_.left(n);
  book_.closed(n.id, rest, context_.now, why);
  for (Part* part : parts_) part->neighbour_left(n);
  neighbours_.erase(n.key);
}

void Membership::drop(Neighbour& n, GoodbyeReason reason, const std::string& detail) {
  outbox_.send(n, proto::Goodbye{reason, detail});
  outbox_.push(Close{n.key});
  forget(n, rest_after(reason), "left by this peer" + (detail.empty() ? "" : ": " + detail));
}

void Membership::punish(const PeerId& id, GoodbyeReason reason, const char* kind,
                        std::uint32_t strikes, const std::string& detail) {
  const std::string what = kind + detail;
  strikes = book_.strike(id, context_.now, strikes, what);
  const TimeUs span = ban_time(strikes);
  Neighbour* const at = neighbours_.find(id);
  const std::string name = at ? at->name() : id.text();
  outbox_.warn(
      "peer " + name + " " + what + "; banned for " + std::to_string(span / kSecond) + " s", kind);
  if (reason == GoodbyeReason::kBanned) {
    for (Part* part : parts_) part->banned(id);
  }
  if (at) drop(*at, reason, what);
}

void Membership::acquit(const std::vector<PeerId>& convicted) {
  for (const PeerId& id : convicted) {
    const bool was_banned = book_.banned(id, context_.now);
    book_.acquit(id);
    if (was_banned)
      outbox_.inform("peer " + id.text() + " is innocent; its ban is lifted", "innocent");
  }
}

void Membership::closed(PeerKey peer, const std::string& why) {
  if (Neighbour* n = find(peer)) forget(*n, 0, why);
}

void Membership::said_goodbye(Neighbour& n, const proto::Goodbye& goodbye) {
  using Reason = GoodbyeReason;
  const Reason reason = goodbye.reason;
  const std::string why = said_with(goodbye);
  if (reason == Reason::kBanned && n.contact.greeted()) accused_by(n.id);
  // A peer that had no place for us may have one soon.
  const bool had_place = n.contact.greeted() || reason != Reason::kTooManyPeers;
  const bool useless =
      reason == Reason::kSelf || reason == Reason::kBanned || reason == Reason::kVersion;
  TimeUs rest = useless ? kUselessTime : had_place ? rest_after(reason) : 0;
  bool warns =
      reason == Reason::kVersion || reason == Reason::kBanned || reason == Reason::kProtocolError;
  if (reason == Reason::kNotServing) {
    const PeerBook::Unserved unserved = book_.unserved(n.id, why);
    rest = unserved.rest;
    warns = unserved.news;
  }
  if (warns) {
    outbox_.warn("peer " + n.name() + " refused us" +
                     (goodbye.detail.empty() ? std::string() : ": " + goodbye.detail),
                 "refused us");
  }
  outbox_.push(Close{n.key});
  forget(n, rest, why);
}

// Neighbours that ban this peer say that it sent false blocks. One may lie; where several say so,
// it is this machine that spoils what it holds: a person is told.
void Membership::accused_by(const PeerId& id) {
  if (accusers_.size() == kAccusersToTell || !accusers_.insert(id).second) return;
  if (accusers_.size() == kAccusersToTell) {
    outbox_.warn(
        "your peers say that blocks from this machine arrive damaged: check its memory and its "
        "disk");
  }
}

void Membership::stop() {
  if (life_.stopped()) return;
  while (!neighbours_.empty()) drop(*neighbours_.begin(), GoodbyeReason::kShuttingDown, "");
  trackers_.stop();
  life_.stop();
  outbox_.push(Finished{});
}

}  // namespace firn::core
