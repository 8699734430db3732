#include "tracker/prefix_table.h"

namespace firn::tracker {

Crowd PrefixTable::find(std::uint32_t content, const Origin& origin) const {
  return index_.find(hash(content, origin), Chain<const PrefixTable>{*this}, [&](Crowd crowd) {
    const PeerRecord& peer = any_of(crowd);
    return peer.content == content && origin_of(peer).prefix() == origin.prefix();
  });
}

std::size_t PrefixTable::listed_of(const Origin& origin, Crowd crowd) const {
  if (crowd == kNone) return 0;
  if (!is_group(crowd))
    return peers_[crowd].kind != Kind::kHidden && origin_of(peers_[crowd]) == origin ? 1 : 0;
  const Group& group = groups_[crowd & ~kOtherPool];
  if (group.listed == nullptr) return 0;  // less than its fill
  const auto counted = group.listed->find(origin.network());
  return counted == group.listed->end() ? 0 : counted->second;
}

// A network may have a few peers listed: a reply must not send its reader to one address again and
// again. The others count, learn of peers, and call them.
Kind PrefixTable::kind_for(std::uint32_t peer, Crowd crowd) const {
  const PeerRecord& record = peers_[peer];
  if (record.peer.endpoint.port == 0) return Kind::kHidden;
  if (listed_of(origin_of(record), crowd) >= listed_max_) return Kind::kHidden;
  return record.peer.complete ? Kind::kComplete : Kind::kIncomplete;
}

void PrefixTable::add_alone(std::uint32_t peer) {
  peers_[peer].is_grouped = false;
  index_.insert(peer, Chain<PrefixTable>{*this});
}

void PrefixTable::remove_alone(std::uint32_t peer) {
  index_.remove(peer, Chain<PrefixTable>{*this});
}

Crowd PrefixTable::make_group(std::uint32_t peer) {
  const Crowd made = groups_.take() | kOtherPool;
  Group& group = groups_[made & ~kOtherPool];
  group.slot = peers_[peer].slot;
  index_.replace(peer, made, Chain<PrefixTable>{*this});
  join(peer, group);
  peers_[peer].group = made & ~kOtherPool;
  return made;
}

void PrefixTable::join(std::uint32_t peer, Group& group) {
  PeerRecord& record = peers_[peer];
  group.members.add(peer, record.kind,
                    [this](std::uint32_t moved, std::uint32_t slot) { peers_[moved].slot = slot; });
  record.is_grouped = true;
  if (group.listed != nullptr) {
    if (record.kind != Kind::kHidden) ++(*group.listed)[origin_of(record).network()];
  } else if (group.members.fitting(kWithAny) >= listed_max_) {
    count_listed(group);
  }
}

void PrefixTable::count_listed(Group& group) {
  group.listed = std::make_unique<Counts>();
  for (std::uint32_t slot = 0; slot < group.members.fitting(kWithAny); ++slot)
    ++(*group.listed)[origin_of(peers_[group.members[slot]]).network()];
}

Crowd PrefixTable::add(std::uint32_t peer, Crowd crowd) {
  if (!is_group(crowd)) crowd = make_group(crowd);
  join(peer, groups_[crowd & ~kOtherPool]);
  peers_[peer].group = crowd & ~kOtherPool;
  return crowd;
}

Crowd PrefixTable::remove(std::uint32_t peer) {
  PeerRecord& record = peers_[peer];
  const Crowd crowd = crowd_of(peer);
  Group& group = groups_[record.group];
  group.members.remove(record.slot, record.kind, [this](std::uint32_t moved, std::uint32_t slot) {
    peers_[moved].slot = slot;
  });
  if (group.listed != nullptr && record.kind != Kind::kHidden) {
    const auto counted = group.listed->find(origin_of(record).network());
    if (--counted->second == 0) group.listed->erase(counted);
    if (group.members.fitting(kWithAny) < listed_max_ / 2) group.listed.reset();
  }
  return group.members.size() == 1 ? dissolve(crowd) : crowd;
}

// Of one peer that is left.
std::uint32_t PrefixTable::dissolve(Crowd crowd) {
  Group& group = groups_[crowd & ~kOtherPool];
  const std::uint32_t last = group.members[0];
  peers_[last].is_grouped = false;
  peers_[last].slot = group.slot;
  index_.replace(crowd, last, Chain<PrefixTable>{*this});
  groups_.give(crowd & ~kOtherPool);
  return last;
}

}  // namespace firn::tracker
