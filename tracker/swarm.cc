#include "tracker/swarm.h"

#include <algorithm>
#include <cstring>

#include "proto/base/limits.h"

namespace firn::tracker {
namespace {

// The first bytes of an address as a number, so that no two of a family have the same.
std::uint64_t first_bytes(const proto::PackedEndpoint& endpoint, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count; ++i) number = number << 8 | endpoint.ip[i];
  return number;
}

// As prefix_of() and network_of() have it. No IPv6 address in use begins with so many ones.
constexpr std::uint64_t kIpv4 = 0xffffffff'00000000;
std::uint64_t prefix_key(const proto::PackedEndpoint& endpoint) {
  return endpoint.v6 ? first_bytes(endpoint, 6) : kIpv4 | first_bytes(endpoint, 3);
}
std::uint64_t network_key(const proto::PackedEndpoint& endpoint) {
  return endpoint.v6 ? first_bytes(endpoint, 8) : kIpv4 | first_bytes(endpoint, 4);
}

}  // namespace

void Swarm::Group::swap(std::uint32_t a, std::uint32_t b) {
  std::swap(peers_[a], peers_[b]);
  peers_[a]->slot = a;
  peers_[b]->slot = b;
}

void Swarm::Group::add(Entry* entry) {
  entry->slot = static_cast<std::uint32_t>(peers_.size());
  peers_.push_back(entry);
  if (entry->kind == kHidden) return;
  swap(entry->slot, ends_[kWithAny]++);
  if (entry->kind == kIncomplete) swap(entry->slot, ends_[kWithIncomplete]++);
}

void Swarm::Group::remove(Entry* entry) {
  if (entry->kind == kIncomplete) swap(entry->slot, --ends_[kWithIncomplete]);
  if (entry->kind != kHidden) swap(entry->slot, --ends_[kWithAny]);
  swap(entry->slot, static_cast<std::uint32_t>(peers_.size() - 1));
  peers_.pop_back();
}

const Swarm::Known* Swarm::find(const PeerId& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.known;
}

SwarmCounts Swarm::counts() const {
  return {complete_, static_cast<std::uint32_t>(entries_.size()) - complete_};
}

// A network may have a few peers listed: a reply must not send its reader to one address again and
// again. The others count, learn of peers, and call them.
Swarm::Kind Swarm::kind_of(const PackedPeer& peer) const {
  if (peer.endpoint.port == 0) return kHidden;
  const auto listed = listed_.find(network_key(peer.endpoint));
  if (listed != listed_.end() && listed->second >= listed_max_) return kHidden;
  return peer.complete ? kComplete : kIncomplete;
}

// Keeps a group among those that have peers for a sample; `before`: how many it had.
void Swarm::list_group(Group& group, With with, std::size_t before) {
  Groups& list = groups_with_[with];
  const std::size_t after = group.fitting(with);
  fitting_[with] += after - before;
  if (before == 0 && after > 0) {
    group.slots[with] = static_cast<std::uint32_t>(list.size());
    list.push_back({&group, nullptr});
  } else if (before > 0 && after == 0) {
    list[group.slots[with]] = list.back();
    list[group.slots[with]].group->slots[with] = group.slots[with];
    list.pop_back();
  }
  if (after > 0) list[group.slots[with]].only = after == 1 ? &group.at(0) : nullptr;
}

void Swarm::place(Entry& entry) {
  const proto::PackedEndpoint& endpoint = entry.known.peer.endpoint;
  Group& group = groups_[prefix_key(endpoint)];
  const std::size_t incomplete = group.fitting(kWithIncomplete), any = group.fitting(kWithAny);
  entry.kind = kind_of(entry.known.peer);
  group.add(&entry);
  list_group(group, kWithIncomplete, incomplete);
  list_group(group, kWithAny, any);
  if (entry.kind != kHidden) ++listed_[network_key(endpoint)];
  if (entry.known.peer.complete) ++complete_;
}

void Swarm::displace(Entry& entry) {
  const proto::PackedEndpoint& endpoint = entry.known.peer.endpoint;
  const auto found = groups_.find(prefix_key(endpoint));
  Group& group = found->second;
  const std::size_t incomplete = group.fitting(kWithIncomplete), any = group.fitting(kWithAny);
  group.remove(&entry);
  list_group(group, kWithIncomplete, incomplete);
  list_group(group, kWithAny, any);
  if (group.size() == 0) groups_.erase(found);
  if (entry.kind != kHidden) {
    const auto listed = listed_.find(network_key(endpoint));
    if (--listed->second == 0) listed_.erase(listed);
  }
  if (entry.known.peer.complete) --complete_;
}

bool Swarm::renew(const PackedPeer& peer, Time now) {
  Entry& entry = entries_.at(peer.endpoint.id);
  const bool is_hidden_for_others = entry.kind == kHidden && peer.endpoint.port != 0;
  if (is_hidden_for_others || entry.known.peer != peer) return false;
  entry.known.seen = now;
  if (shares_) shares_->touch(entry.share);
  return true;
}

void Swarm::announce(const PackedPeer& peer, const Where& where, Time now) {
  const auto [found, fresh] = entries_.try_emplace(peer.endpoint.id);
  Entry& entry = found->second;
  if (!fresh) {
    displace(entry);
    if (shares_) shares_->remove(entry.share);
  }
  entry.known.peer = peer;
  entry.known.seen = now;
  place(entry);
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
      entry->share = shares_->add(where_of(proto::unpack(entry->known.peer.endpoint).ip),
                                  entry->known.peer.endpoint.id);
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

// A number below `count`, which is less than 2^32; the bias is below 2^-32 of it.
std::size_t below(std::size_t count, Random& random) {
  return static_cast<std::size_t>((random() >> 32) * count >> 32);
}

// Different numbers below `count`, one after the other, without memory for all of them: as long as
// many are left a number that has come before is drawn again.
class Distinct {
 public:
  // `drawn_max`: how many are drawn at most, up to half of kSlots.
  Distinct(std::size_t count, std::size_t drawn_max) : count_(count) {
    if (count > 2 * drawn_max) return;
    FIRN_CHECK(count <= kSlots);
    is_dealt_ = true;
    for (std::size_t i = 0; i < count; ++i) slots_[i] = static_cast<std::uint32_t>(i);
  }
  bool empty() const { return drawn_ == count_; }
  std::size_t next(Random& random) {
    if (is_dealt_) {
      std::swap(slots_[drawn_], slots_[drawn_ + below(count_ - drawn_, random)]);
      return slots_[drawn_++];
    }
    for (;;) {
      const std::size_t number = below(count_, random);
      // Multiplied so that neighbours do not stand in a row. 0 marks a slot that is free.
      std::size_t slot = number * 0x9e3779b1u % kSlots;
      while (slots_[slot] != 0 && slots_[slot] != number + 1) slot = (slot + 1) % kSlots;
      if (slots_[slot] != 0) continue;
      slots_[slot] = static_cast<std::uint32_t>(number + 1);
      ++drawn_;
      return number;
    }
  }

 private:
  static constexpr std::size_t kSlots = 1024;
  const std::size_t count_;
  std::size_t drawn_ = 0;
  bool is_dealt_ = false;
  std::array<std::uint32_t, kSlots> slots_{};
};

}  // namespace

// The peers of one group that fit, in random order.
class Swarm::Draw {
 public:
  Draw(const Group& group, With with) : group_(&group), order_(group.fitting(with)) {}

  // Null: there is no other.
  const Entry* next(Random& random) {
    return order_.empty() ? nullptr : &group_->at(order_.next(random));
  }

 private:
  const Group* group_;
  Shuffle order_;
};

// The first time round: of each prefix one peer, until there are enough. Its memory is on the stack
// and `into` keeps its own, so that a tracker of many peers takes none here.
class Swarm::Round {
 public:
  Round(const Groups& groups, With with, const SampleRequest& request)
      : groups_(groups),
        with_(with),
        request_(request),
        order_(groups.size(), request.peers_max + 1) {}  // the asker may be among them

  void draw(Random& random, Endpoints& into) {
    while (into.size() < request_.peers_max && !order_.empty()) {
      // Peers lie all over memory: ask for the next ones before the first is looked at.
      const std::size_t ahead = std::min(request_.peers_max - into.size(), kAhead);
      std::size_t count = 0;
      for (; count < ahead && !order_.empty(); ++count) {
        entries_[count] = pick(groups_[order_.next(random)], random);
        __builtin_prefetch(&entries_[count]->known.peer);
      }
      for (std::size_t i = 0; i < count; ++i) {
        const proto::PackedEndpoint& endpoint = entries_[i]->known.peer.endpoint;
        if (!is_asker(endpoint.id)) into.push_back(endpoint);
      }
    }
  }

 private:
  const Entry* pick(const Listed& listed, Random& random) const {
    if (listed.only != nullptr) return listed.only;
    return &listed.group->at(below(listed.group->fitting(with_), random));
  }

  // Nearly all differ in their first bytes.
  bool is_asker(const PeerId& id) const {
    std::uint64_t ours = 0, theirs = 0;
    std::memcpy(&ours, id.bytes.data(), sizeof ours);
    std::memcpy(&theirs, request_.asker.bytes.data(), sizeof theirs);
    return ours == theirs && id == request_.asker;
  }

  static constexpr std::size_t kAhead = 64;
  const Groups& groups_;
  const With with_;
  const SampleRequest& request_;
  Distinct order_;
  std::array<const Entry*, kAhead> entries_;
};

void Swarm::sample(const SampleRequest& wanted, Random& random, Endpoints& into) const {
  into.clear();
  SampleRequest request = wanted;
  request.peers_max = std::min<std::size_t>(request.peers_max, limits::kAnnouncePeersMax);
  const With with = request.complete_too ? kWithAny : kWithIncomplete;
  const Groups& groups = groups_with_[with];
  if (groups.size() < request.peers_max && groups.size() < fitting_[with])
    return sample_again(groups, request, random, into);
  Round(groups, with, request).draw(random, into);
}

// Few prefixes: some give several peers.
void Swarm::sample_again(const Groups& groups, const SampleRequest& request, Random& random,
                         Endpoints& into) const {
  const With with = request.complete_too ? kWithAny : kWithIncomplete;
  Shuffle order(groups.size());
  std::vector<Draw> begun;
  while (!order.empty()) begun.emplace_back(*groups[order.next(random)].group, with);
  while (into.size() < request.peers_max && !begun.empty()) {
    std::erase_if(begun, [&](Draw& draw) {
      const Entry* entry = into.size() < request.peers_max ? draw.next(random) : nullptr;
      if (entry == nullptr) return true;
      if (entry->known.peer.endpoint.id != request.asker)
        into.push_back(entry->known.peer.endpoint);
      return false;
    });
  }
}

}  // namespace firn::tracker
