#include "tracker/swarm_table.h"

#include <algorithm>

namespace firn::tracker {

namespace {

constexpr std::size_t kProofMax = 8;  // prefixes, after which a content weighs no less
// Peers per announce: a table that fills from three quarters with newcomers alone counts all.
constexpr int kCountedAtOnce = 4;

}  // namespace

// Room for one more peer, and its content if that is new.
AnnounceOutcome SwarmTable::make_room(const ContentId& content, const Where& newcomer) {
  if (const auto found = contents_.find(content); found == contents_.end()) {
    if (contents_.size() >= limits_.content_count_max) {
      const ContentId* leaving = content_shares_.gives_way(newcomer);
      if (leaving == nullptr) return AnnounceOutcome::kTrackerFull;
      forget_content(*leaving);
    }
  } else if (found->second.swarm.size() >= limits_.peers_per_content_max) {
    const PeerId* leaving = found->second.swarm.gives_way(newcomer);
    if (leaving == nullptr) return AnnounceOutcome::kSwarmFull;
    forget({content, *leaving});
  }
  if (ages_.size() < limits_.peer_count_max) return AnnounceOutcome::kKept;
  const AgeList::iterator* leaving = peer_shares_.gives_way(newcomer);
  if (leaving == nullptr) return AnnounceOutcome::kTrackerFull;
  forget((*leaving)->key());
  return AnnounceOutcome::kKept;
}

bool SwarmTable::counts_shares() const {
  const std::size_t spare = std::max(limits_.peer_count_max / 4, limits_.peer_places_spare);
  return ages_.size() + spare >= limits_.peer_count_max;
}

// Nearly all announces are of peers that are known and have not changed: they cost two look-ups.
AnnounceOutcome SwarmTable::announce(const ContentId& content, const PackedPeer& peer, Time now,
                                     bool* changed) {
  if (counts_shares()) count_some();
  auto found = contents_.find(content);
  const bool known = found != contents_.end() && found->second.swarm.find(peer.endpoint.id);
  if (known && found->second.swarm.renew(peer, now)) {
    renew(found->second.swarm.places_of(peer.endpoint.id), peer);
    return AnnounceOutcome::kKept;
  }
  const Where where = where_of(proto::unpack(peer.endpoint).ip);
  if (!known) {
    if (const AnnounceOutcome room = make_room(content, where); room != AnnounceOutcome::kKept)
      return room;
    found = contents_.find(content);
  }
  if (found == contents_.end()) {
    found = contents_.try_emplace(content, limits_.listed_per_network_max).first;
    found->second.share = content_shares_.add(where, content);
  }
  Swarm& swarm = found->second.swarm;
  if (changed != nullptr) *changed = !known || swarm.find(peer.endpoint.id)->peer != peer;
  swarm.announce(peer, where, now);
  Swarm::TablePlaces& places = swarm.places_of(peer.endpoint.id);
  if (known) {
    move_to_newest(places.age);
    if (places.shared) peer_shares_.remove(places.share);
  } else {
    places.age =
        ages_.insert(ages_.end(), {&found->first, &swarm.find(peer.endpoint.id)->peer.endpoint.id});
  }
  places.shared = counts_shares();
  if (places.shared) {
    places.share = peer_shares_.add(where, places.age);
  } else if (uncounted_ == ages_.end()) {
    uncounted_ = places.age;
  }
  weigh(found->second);
  return AnnounceOutcome::kKept;
}

// Of a peer that has not changed.
void SwarmTable::renew(Swarm::TablePlaces& places, const PackedPeer& peer) {
  move_to_newest(places.age);
  if (places.shared) return peer_shares_.touch(places.share);
  if (counts_shares()) return count(places, peer);
  if (uncounted_ == ages_.end()) uncounted_ = places.age;
}

void SwarmTable::move_to_newest(AgeList::iterator peer) {
  if (uncounted_ == peer) ++uncounted_;
  ages_.splice(ages_.end(), ages_, peer);
}

void SwarmTable::count(Swarm::TablePlaces& places, const PackedPeer& peer) {
  places.share = peer_shares_.add(where_of(proto::unpack(peer.endpoint).ip), places.age);
  places.shared = true;
}

void SwarmTable::count_some() {
  for (int i = 0; i < kCountedAtOnce && uncounted_ != ages_.end(); ++i, ++uncounted_) {
    const PeerKey key = uncounted_->key();
    Swarm& swarm = contents_.at(key.first).swarm;
    Swarm::TablePlaces& places = swarm.places_of(key.second);
    if (!places.shared) count(places, swarm.find(key.second)->peer);
  }
}

void SwarmTable::weigh(Content& content) {
  const std::size_t prefixes = std::clamp<std::size_t>(content.swarm.prefix_count(), 1, kProofMax);
  content_shares_.reweigh(content.share,
                          static_cast<std::uint32_t>(FairShares<ContentId>::kWhole / prefixes));
}

bool SwarmTable::leave(const ContentId& content, const PeerId& peer) {
  const auto found = contents_.find(content);
  if (found == contents_.end() || found->second.swarm.find(peer) == nullptr) return false;
  Swarm& swarm = found->second.swarm;
  const Swarm::TablePlaces places = swarm.places_of(peer);
  if (uncounted_ == places.age) ++uncounted_;
  ages_.erase(places.age);
  if (places.shared) peer_shares_.remove(places.share);
  swarm.leave(peer);
  if (swarm.size() > 0) {
    weigh(found->second);
  } else {
    content_shares_.remove(found->second.share);
    contents_.erase(found);
  }
  return true;
}

void SwarmTable::forget(PeerKey peer) {
  gone_(peer.first, peer.second);
  leave(peer.first, peer.second);
}

void SwarmTable::forget_content(ContentId content) {
  std::vector<PeerId> peers;
  contents_.at(content).swarm.for_each(
      [&](const Swarm::Known& known) { peers.push_back(known.peer.endpoint.id); });
  for (const PeerId& peer : peers) forget({content, peer});
}

void SwarmTable::expire(Time before) {
  while (!ages_.empty()) {
    const PeerKey oldest = ages_.front().key();
    if (contents_.at(oldest.first).swarm.find(oldest.second)->seen >= before) return;
    forget(oldest);
  }
}

void SwarmTable::for_each(
    const std::function<void(const ContentId&, const PackedPeer&)>& visit) const {
  for (const PeerRef& peer : ages_) visit(*peer.content, *find(*peer.content, *peer.id));
}

const PackedPeer* SwarmTable::find(const ContentId& content, const PeerId& peer) const {
  const auto found = contents_.find(content);
  if (found == contents_.end()) return nullptr;
  const Swarm::Known* known = found->second.swarm.find(peer);
  return known == nullptr ? nullptr : &known->peer;
}

std::optional<SeenPeer> SwarmTable::seen(const ContentId& content, const PeerId& peer) const {
  const auto found = contents_.find(content);
  if (found == contents_.end()) return std::nullopt;
  const Swarm::Known* known = found->second.swarm.find(peer);
  if (known == nullptr) return std::nullopt;
  return SeenPeer{known->peer, known->seen};
}

std::vector<ContentId> SwarmTable::contents() const {
  std::vector<ContentId> all;
  all.reserve(contents_.size());
  for (const auto& [content, known] : contents_) all.push_back(content);
  return all;
}

void SwarmTable::for_each_of(const ContentId& content,
                             const std::function<void(const SeenPeer&)>& visit) const {
  const auto found = contents_.find(content);
  if (found == contents_.end()) return;
  found->second.swarm.for_each([&](const Swarm::Known& known) { visit({known.peer, known.seen}); });
}

void SwarmTable::describe(Snapshot& snapshot) const {
  snapshot.swarm_count += contents_.size();
  snapshot.largest.reserve(contents_.size());
  for (const auto& [content, known] : contents_) {
    const SwarmCounts counts = known.swarm.counts();
    snapshot.complete_count += counts.complete;
    snapshot.incomplete_count += counts.incomplete;
    snapshot.largest.push_back({content, counts.complete, counts.incomplete});
  }
  snapshot.sort();
}

SwarmCounts SwarmTable::counts(const ContentId& content) const {
  const auto found = contents_.find(content);
  return found == contents_.end() ? SwarmCounts{} : found->second.swarm.counts();
}

void SwarmTable::sample(const ContentId& content, const SampleRequest& request, Random& random,
                        Endpoints& into) const {
  const auto found = contents_.find(content);
  if (found == contents_.end()) return into.clear();
  found->second.swarm.sample(request, random, into);
}

}  // namespace firn::tracker
