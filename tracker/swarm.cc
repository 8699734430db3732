#include "tracker/swarm.h"

#include <algorithm>

namespace firn::tracker {

const Swarm::Known* Swarm::find(const PeerId& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.known;
}

SwarmCounts Swarm::counts() const {
  return {complete_, static_cast<std::uint32_t>(entries_.size()) - complete_};
}

// A network may have a few peers listed: a reply must not send its reader to one address again and
// again. The others count, learn of peers, and call them.
Swarm::Kind Swarm::kind_of(const Peer& peer, const Where& where) const {
  if (peer.endpoint.port == 0) return kHidden;
  const auto listed = listed_.find(where.network);
  if (listed != listed_.end() && listed->second >= listed_max_) return kHidden;
  return peer.complete ? kComplete : kIncomplete;
}

// Keeps a group among those of which `with` holds.
void Swarm::list_group(Group& group, With with, bool before, bool after) {
  if (before == after) return;
  Groups& list = groups_with_[with];
  if (after) {
    group.slots[with] = list.size();
    list.push_back(&group);
    return;
  }
  list[group.slots[with]] = list.back();
  list[group.slots[with]]->slots[with] = group.slots[with];
  list.pop_back();
}

void Swarm::place(Entry& entry, const Where& where) {
  Group& group = groups_[where.prefix];
  const bool incomplete = !group.kinds[kIncomplete].empty();
  const bool any = incomplete || !group.kinds[kComplete].empty();
  entry.kind = kind_of(entry.known.peer, where);
  auto& kind = group.kinds[entry.kind];
  entry.slot = kind.size();
  kind.push_back(&entry);
  list_group(group, kWithIncomplete, incomplete, incomplete || entry.kind == kIncomplete);
  list_group(group, kWithAny, any, any || entry.kind != kHidden);
  if (entry.kind != kHidden) ++listed_[where.network];
  if (entry.known.peer.complete) ++complete_;
}

void Swarm::displace(Entry& entry) {
  const Where where = where_of(entry.known.peer.endpoint.ip);
  const auto found = groups_.find(where.prefix);
  Group& group = found->second;
  const bool incomplete = !group.kinds[kIncomplete].empty();
  const bool any = incomplete || !group.kinds[kComplete].empty();
  auto& kind = group.kinds[entry.kind];
  kind[entry.slot] = kind.back();
  kind[entry.slot]->slot = entry.slot;
  kind.pop_back();
  const bool incomplete_left = !group.kinds[kIncomplete].empty();
  list_group(group, kWithIncomplete, incomplete, incomplete_left);
  list_group(group, kWithAny, any, incomplete_left || !group.kinds[kComplete].empty());
  if (group.size() == 0) groups_.erase(found);
  if (entry.kind != kHidden) {
    const auto listed = listed_.find(where.network);
    if (--listed->second == 0) listed_.erase(listed);
  }
  if (entry.known.peer.complete) --complete_;
}

void Swarm::announce(const Peer& peer, const Where& where, Time now) {
  const auto [found, fresh] = entries_.try_emplace(peer.endpoint.id);
  Entry& entry = found->second;
  if (!fresh) {
    displace(entry);
    if (shares_) shares_->remove(entry.share);
  }
  entry.known.peer = peer;
  entry.known.seen = now;
  place(entry, where);
  if (shares_) entry.share = shares_->add(where, peer.endpoint.id);
}

void Swarm::leave(const PeerId& id) {
  const auto found = entries_.find(id);
  displace(found->second);
  if (shares_) shares_->remove(found->second.share);
  entries_.erase(found);
  if (shares_ && entries_.size() <= shares_until_) shares_.reset();
}

const PeerId* Swarm::gives_way(const Where& newcomer) {
  if (!shares_) {
    std::vector<Entry*> by_age;
    by_age.reserve(entries_.size());
    for (auto& [id, entry] : entries_) by_age.push_back(&entry);
    std::sort(by_age.begin(), by_age.end(), [](const Entry* a, const Entry* b) {
      return std::pair(a->known.seen, a->known.peer.endpoint.id) <
             std::pair(b->known.seen, b->known.peer.endpoint.id);
    });
    shares_ = std::make_unique<FairShares<PeerId>>();
    for (Entry* entry : by_age) {
      entry->share =
          shares_->add(where_of(entry->known.peer.endpoint.ip), entry->known.peer.endpoint.id);
    }
    shares_until_ = entries_.size() / 2;
  }
  return shares_->gives_way(newcomer);
}

namespace {

// Numbers below `count` without putting back: a Fisher-Yates shuffle of which only the drawn places
// are made, with the places that hold something else than at the start kept in a map.
class Shuffle {
 public:
  explicit Shuffle(std::size_t count) : count_(count) {}

  bool empty() const { return first_ == count_; }
  std::size_t next(Random& random) {
    const std::size_t place = std::uniform_int_distribution(first_, count_ - 1)(random);
    const std::size_t drawn = at(place);
    if (place != first_) moved_[place] = at(first_);
    ++first_;
    return drawn;
  }

 private:
  std::size_t at(std::size_t place) const {
    const auto other = moved_.find(place);
    return other == moved_.end() ? place : other->second;
  }

  std::size_t count_;
  std::size_t first_ = 0;
  std::unordered_map<std::size_t, std::size_t> moved_;
};

}  // namespace

// The peers of one group that fit, in random order.
class Swarm::Draw {
 public:
  Draw(const Group& group, bool complete_too)
      : group_(&group),
        order_(group.kinds[kIncomplete].size() +
               (complete_too ? group.kinds[kComplete].size() : 0)) {}

  bool empty() const { return order_.empty(); }
  const Peer& next(Random& random) {
    const auto& incomplete = group_->kinds[kIncomplete];
    const std::size_t index = order_.next(random);
    const Entry* entry = index < incomplete.size()
                             ? incomplete[index]
                             : group_->kinds[kComplete][index - incomplete.size()];
    return entry->known.peer;
  }

 private:
  const Group* group_;
  Shuffle order_;
};

std::vector<proto::PeerEndpoint> Swarm::sample(const SampleRequest& request, Random& random) const {
  std::vector<proto::PeerEndpoint> drawn;
  const Groups& groups = groups_with_[request.complete_too ? kWithAny : kWithIncomplete];
  Shuffle order(groups.size());
  std::vector<Draw> begun;  // groups that may have more
  const auto draw_from = [&](Draw& draw) {
    const Peer& peer = draw.next(random);
    if (peer.endpoint.id != request.asker) drawn.push_back(peer.endpoint);
  };
  while (drawn.size() < request.peers_max && !order.empty()) {
    draw_from(begun.emplace_back(*groups[order.next(random)], request.complete_too));
  }
  while (drawn.size() < request.peers_max) {
    std::erase_if(begun, [](const Draw& draw) { return draw.empty(); });
    if (begun.empty()) break;
    for (Draw& draw : begun) {
      if (drawn.size() < request.peers_max) draw_from(draw);
    }
  }
  return drawn;
}

}  // namespace firn::tracker
