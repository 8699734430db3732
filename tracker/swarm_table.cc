#include "tracker/swarm_table.h"

#include <algorithm>

namespace firn::tracker {

namespace {

constexpr std::size_t kProofMax = 8;  // prefixes, after which a content weighs no less
// Peers per announce: a table that fills from three quarters with newcomers alone counts all.
constexpr int kCountedAtOnce = 4;

}  // namespace

SwarmTable::SwarmTable(const RegistryLimits& limits, Gone gone, std::uint64_t seed)
    : limits_(limits),
      gone_(std::move(gone)),
      hash_(seed),
      tables_(hash_, limits.listed_per_network_max),
      contents_(hash_),
      content_shares_(seed),
      peer_shares_(seed) {}

std::uint32_t SwarmTable::number_of(const ContentId& content, const PeerId& peer) const {
  const std::uint32_t number = contents_.find(content);
  return number == kNone ? kNone : tables_.peers.find(number, peer);
}

// Room for one more peer, and its content if that is new (kNone).
AnnounceOutcome SwarmTable::make_room(std::uint32_t content, const Origin& newcomer) {
  if (content == kNone) {
    if (contents_.size() >= limits_.content_count_max) {
      const std::uint32_t* leaving = content_shares_.gives_way(newcomer);
      if (leaving == nullptr) return AnnounceOutcome::kTrackerFull;
      forget_content(*leaving);
    }
  } else if (contents_[content].swarm.size() >= limits_.peers_per_content_max) {
    const std::uint32_t leaving =
        contents_[content].swarm.gives_way(newcomer, hash_.seed(), tables_);
    if (leaving == kNone) return AnnounceOutcome::kSwarmFull;
    forget(leaving);
  }
  if (tables_.peers.size() < limits_.peer_count_max) return AnnounceOutcome::kKept;
  const std::uint32_t* leaving = peer_shares_.gives_way(newcomer);
  if (leaving == nullptr) return AnnounceOutcome::kTrackerFull;
  forget(*leaving);
  return AnnounceOutcome::kKept;
}

bool SwarmTable::counts_shares() const {
  const std::size_t spare = std::max(limits_.peer_count_max / 4, limits_.peer_places_spare);
  return tables_.peers.size() + spare >= limits_.peer_count_max;
}

// Nearly all announces are of peers that are known and have not changed: they cost two look-ups.
AnnounceOutcome SwarmTable::announce(const ContentId& content, const PackedPeer& peer, Time now,
                                     bool* changed) {
  if (counts_shares()) count_some();
  const std::uint32_t known_content = contents_.find(content);
  std::uint32_t number =
      known_content == kNone ? kNone : tables_.peers.find(known_content, peer.endpoint.id);
  const bool known = number != kNone;
  if (known && contents_[known_content].swarm.renew(number, peer, now, tables_)) {
    renew(number);
    return AnnounceOutcome::kKept;
  }
  const Origin origin(peer.endpoint);
  if (!known) {
    const AnnounceOutcome room = make_room(known_content, origin);
    if (room != AnnounceOutcome::kKept) return room;
  }
  if (changed != nullptr) *changed = !known || tables_.peers[number].peer != peer;
  if (known) {
    contents_[known_content].swarm.change(number, peer, tables_);
    move_to_newest(number);
    if (tables_.peers[number].is_shared) peer_shares_.remove(tables_.peers[number].share);
  } else {
    number = add(content, peer, origin);
  }
  PeerRecord& record = tables_.peers[number];
  record.seen = now;
  record.is_shared = counts_shares();
  if (record.is_shared) {
    record.share = peer_shares_.add(origin, number);
  } else if (uncounted_ == kNone) {
    uncounted_ = number;
  }
  weigh(record.content);
  return AnnounceOutcome::kKept;
}

// Its content may have gone when there was to be room.
std::uint32_t SwarmTable::add(const ContentId& content, const PackedPeer& peer,
                              const Origin& origin) {
  std::uint32_t of = contents_.find(content);
  if (of == kNone) {
    of = contents_.add(content);
    contents_[of].share = content_shares_.add(origin, of);
  }
  const std::uint32_t number = tables_.peers.add(of, peer);
  contents_[of].swarm.add(number, tables_);
  ages_.push_back(number, tables_.peers);
  return number;
}

// Of a peer that has not changed.
void SwarmTable::renew(std::uint32_t peer) {
  move_to_newest(peer);
  if (tables_.peers[peer].is_shared) return peer_shares_.touch(tables_.peers[peer].share);
  if (counts_shares()) return count(peer);
  if (uncounted_ == kNone) uncounted_ = peer;
}

void SwarmTable::move_to_newest(std::uint32_t peer) {
  if (uncounted_ == peer) uncounted_ = ages_.after(peer, tables_.peers);
  ages_.move_to_back(peer, tables_.peers);
}

void SwarmTable::count(std::uint32_t peer) {
  PeerRecord& record = tables_.peers[peer];
  record.share = peer_shares_.add(origin_of(record), peer);
  record.is_shared = true;
}

void SwarmTable::count_some() {
  for (int i = 0; i < kCountedAtOnce && uncounted_ != kNone; ++i) {
    if (!tables_.peers[uncounted_].is_shared) count(uncounted_);
    uncounted_ = ages_.after(uncounted_, tables_.peers);
  }
}

void SwarmTable::weigh(std::uint32_t content) {
  const ContentRecord& record = contents_[content];
  const std::size_t prefixes = std::clamp<std::size_t>(record.swarm.prefix_count(), 1, kProofMax);
  constexpr std::size_t kWhole = FairShares<std::uint32_t>::kWhole;
  content_shares_.reweigh(record.share, static_cast<std::uint32_t>(kWhole / prefixes));
}

bool SwarmTable::leave(const ContentId& content, const PeerId& peer) {
  const std::uint32_t number = number_of(content, peer);
  if (number == kNone) return false;
  remove(number);
  return true;
}

void SwarmTable::remove(std::uint32_t peer) {
  const PeerRecord& record = tables_.peers[peer];
  const std::uint32_t content = record.content;
  if (uncounted_ == peer) uncounted_ = ages_.after(peer, tables_.peers);
  ages_.remove(peer, tables_.peers);
  if (record.is_shared) peer_shares_.remove(record.share);
  contents_[content].swarm.remove(peer, tables_);
  tables_.peers.remove(peer);
  if (contents_[content].swarm.size() > 0) {
    weigh(content);
  } else {
    content_shares_.remove(contents_[content].share);
    contents_.remove(content);
  }
}

void SwarmTable::forget(std::uint32_t peer) {
  const PeerRecord& record = tables_.peers[peer];
  gone_(contents_[record.content].id, record.peer.endpoint.id);
  remove(peer);
}

void SwarmTable::forget_content(std::uint32_t content) {
  std::vector<std::uint32_t> peers;
  contents_[content].swarm.for_each(tables_, [&](std::uint32_t peer) { peers.push_back(peer); });
  for (const std::uint32_t peer : peers) forget(peer);
}

void SwarmTable::expire(Time before) {
  for (;;) {
    const std::uint32_t oldest = ages_.first(tables_.peers);
    if (oldest == kNone || tables_.peers[oldest].seen >= before) return;
    forget(oldest);
  }
}

void SwarmTable::for_each(
    const std::function<void(const ContentId&, const PackedPeer&)>& visit) const {
  const PeerTable& peers = tables_.peers;
  for (std::uint32_t peer = ages_.first(peers); peer != kNone; peer = ages_.after(peer, peers))
    visit(contents_[peers[peer].content].id, peers[peer].peer);
}

const PackedPeer* SwarmTable::find(const ContentId& content, const PeerId& peer) const {
  const std::uint32_t number = number_of(content, peer);
  return number == kNone ? nullptr : &tables_.peers[number].peer;
}

std::optional<SeenPeer> SwarmTable::seen(const ContentId& content, const PeerId& peer) const {
  const std::uint32_t number = number_of(content, peer);
  if (number == kNone) return std::nullopt;
  return SeenPeer{tables_.peers[number].peer, tables_.peers[number].seen};
}

std::vector<ContentId> SwarmTable::contents() const {
  std::vector<ContentId> all;
  all.reserve(contents_.size());
  contents_.for_each([&](const ContentRecord& content) { all.push_back(content.id); });
  return all;
}

void SwarmTable::for_each_of(const ContentId& content,
                             const std::function<void(const SeenPeer&)>& visit) const {
  const std::uint32_t number = contents_.find(content);
  if (number == kNone) return;
  contents_[number].swarm.for_each(tables_, [&](std::uint32_t peer) {
    visit({tables_.peers[peer].peer, tables_.peers[peer].seen});
  });
}

void SwarmTable::describe(Snapshot& snapshot) const {
  snapshot.swarm_count += contents_.size();
  snapshot.largest.reserve(contents_.size());
  contents_.for_each([&](const ContentRecord& content) {
    const SwarmCounts counts = content.swarm.counts();
    snapshot.complete_count += counts.complete;
    snapshot.incomplete_count += counts.incomplete;
    snapshot.largest.push_back(
        {content.id, {}, counts.complete, counts.incomplete, content.swarm.mean_percent()});
  });
  snapshot.sort();
}

SwarmCounts SwarmTable::counts(const ContentId& content) const {
  const std::uint32_t number = contents_.find(content);
  return number == kNone ? SwarmCounts{} : contents_[number].swarm.counts();
}

void SwarmTable::sample(const ContentId& content, const SampleRequest& request, Random& random,
                        Endpoints& into) const {
  const std::uint32_t number = contents_.find(content);
  if (number == kNone) return into.clear();
  contents_[number].swarm.sample(request, tables_, random, into);
}

}  // namespace firn::tracker
