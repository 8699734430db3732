#include "tracker/swarm_table.h"

#include <algorithm>
#include <tuple>

namespace firn::tracker {

namespace {

constexpr std::size_t kProofMax = 8;  // prefixes, after which a content weighs no less

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
  forget(**leaving);
  return AnnounceOutcome::kKept;
}

AnnounceOutcome SwarmTable::announce(const ContentId& content, const Peer& peer, Time now) {
  const Where where = where_of(peer.endpoint.ip);
  const bool known = find(content, peer.endpoint.id) != nullptr;
  if (!known) {
    if (const AnnounceOutcome room = make_room(content, where); room != AnnounceOutcome::kKept)
      return room;
  }
  const auto [found, fresh] = contents_.try_emplace(content, limits_.listed_per_network_max);
  if (fresh) found->second.share = content_shares_.add(where, content);
  Swarm& swarm = found->second.swarm;
  swarm.announce(peer, where, now);
  Swarm::TablePlaces& places = swarm.places_of(peer.endpoint.id);
  if (known) {
    ages_.splice(ages_.end(), ages_, places.age);
    peer_shares_.remove(places.share);
  } else {
    places.age = ages_.insert(ages_.end(), {content, peer.endpoint.id});
  }
  places.share = peer_shares_.add(where, places.age);
  weigh(found->second);
  return AnnounceOutcome::kKept;
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
  ages_.erase(places.age);
  peer_shares_.remove(places.share);
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
      [&](const Peer& peer) { peers.push_back(peer.endpoint.id); });
  for (const PeerId& peer : peers) forget({content, peer});
}

void SwarmTable::expire(Time before) {
  while (!ages_.empty()) {
    const PeerKey oldest = ages_.front();
    if (contents_.at(oldest.first).swarm.find(oldest.second)->seen >= before) return;
    forget(oldest);
  }
}

void SwarmTable::for_each(const std::function<void(const ContentId&, const Peer&)>& visit) const {
  for (const auto& [content, id] : ages_) visit(content, *find(content, id));
}

const Peer* SwarmTable::find(const ContentId& content, const PeerId& peer) const {
  const auto found = contents_.find(content);
  if (found == contents_.end()) return nullptr;
  const Swarm::Known* known = found->second.swarm.find(peer);
  return known == nullptr ? nullptr : &known->peer;
}

void SwarmTable::describe(Snapshot& snapshot) const {
  std::vector<Snapshot::Line> lines;
  lines.reserve(contents_.size());
  for (const auto& [content, known] : contents_) {
    const SwarmCounts counts = known.swarm.counts();
    snapshot.complete_count += counts.complete;
    snapshot.incomplete_count += counts.incomplete;
    lines.push_back({content, counts.complete, counts.incomplete});
  }
  snapshot.swarm_count += lines.size();
  const auto larger = [](const Snapshot::Line& a, const Snapshot::Line& b) {
    const std::uint64_t size_a = std::uint64_t{a.complete} + a.incomplete;
    const std::uint64_t size_b = std::uint64_t{b.complete} + b.incomplete;
    return std::tie(size_b, a.content) < std::tie(size_a, b.content);  // ids: the same each time
  };
  const std::size_t count = std::min(lines.size(), Snapshot::kSwarmsMax);
  std::ranges::partial_sort(lines, lines.begin() + static_cast<std::ptrdiff_t>(count), larger);
  lines.resize(count);
  snapshot.largest = std::move(lines);
}

SwarmCounts SwarmTable::counts(const ContentId& content) const {
  const auto found = contents_.find(content);
  return found == contents_.end() ? SwarmCounts{} : found->second.swarm.counts();
}

std::vector<proto::PeerEndpoint> SwarmTable::sample(const ContentId& content,
                                                    const SampleRequest& request,
                                                    Random& random) const {
  const auto found = contents_.find(content);
  if (found == contents_.end()) return {};
  return found->second.swarm.sample(request, random);
}

}  // namespace firn::tracker
