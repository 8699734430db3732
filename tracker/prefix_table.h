// Which peers of a swarm come from one prefix (an IPv4 /24, an IPv6 /48), over all swarms. Most are
// alone there, and cost a link in their record; others form a group.
//
// A Crowd names the peers of one swarm in one prefix: the number of a peer that is alone, or, with
// kOtherPool, that of a group.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "tracker/peer_table.h"

namespace firn::tracker {

using Crowd = std::uint32_t;

// One thread.
class PrefixTable {
 public:
  // `listed_max`: peers of one network in one content that are handed out.
  PrefixTable(const SeededHash& hash, std::size_t listed_max, PeerTable& peers)
      : hash_(hash), listed_max_(listed_max), peers_(peers) {}

  // Where a peer of the content comes from; kNone: no other comes from there.
  Crowd find(std::uint32_t content, const Origin& origin) const;
  // The peer's kind, were it added; `crowd`: what find() says of it.
  Kind kind_for(std::uint32_t peer, Crowd crowd) const;

  void add_alone(std::uint32_t peer);
  void remove_alone(std::uint32_t peer);
  // To a group. A peer that was alone becomes one; remove() leaves the last one alone again. Both
  // return the crowd that there is then, in the slot where the other was.
  Crowd add(std::uint32_t peer, Crowd crowd);
  Crowd remove(std::uint32_t peer);

  Crowd crowd_of(std::uint32_t peer) const {
    return peers_[peer].is_grouped ? peers_[peer].group | kOtherPool : peer;
  }
  static bool is_group(Crowd crowd) { return (crowd & kOtherPool) != 0; }
  // Of a group.
  const KindList& members(Crowd crowd) const { return groups_[crowd & ~kOtherPool].members; }
  Kind kind_of(Crowd crowd) const {
    return is_group(crowd) ? members(crowd).kind() : peers_[crowd].kind;
  }
  // In its swarm's list, which sets it.
  std::uint32_t& slot(Crowd crowd) {
    return is_group(crowd) ? groups_[crowd & ~kOtherPool].slot : peers_[crowd].slot;
  }
  template <class Visit>
  void for_each_member(Crowd crowd, const Visit& visit) const {
    if (!is_group(crowd)) return visit(crowd);
    const KindList& all = members(crowd);
    for (std::uint32_t slot = 0; slot < all.size(); ++slot) visit(all[slot]);
  }

 private:
  // By network. A prefix has 65,536 networks at most, so strangers cannot make many of one hash.
  using Counts = std::unordered_map<std::uint64_t, std::uint32_t>;
  struct Group {
    KindList members;
    std::unique_ptr<Counts> listed;  // only while there are enough for a network to have its fill
    std::uint32_t slot = 0, link = kNone;
    std::uint32_t& free_link() { return link; }
  };
  template <class Table>
  struct Chain {
    Table& table;
    auto& link(Crowd crowd) const {
      return is_group(crowd) ? table.groups_[crowd & ~kOtherPool].link : table.peers_[crowd].group;
    }
    std::uint64_t hash(Crowd crowd) const {
      const PeerRecord& peer = table.any_of(crowd);
      return table.hash(peer.content, origin_of(peer));
    }
  };
  std::uint64_t hash(std::uint32_t content, const Origin& origin) const {
    return hash_(std::array<std::uint64_t, 2>{origin.prefix(), content});
  }
  const PeerRecord& any_of(Crowd crowd) const {
    return peers_[is_group(crowd) ? members(crowd)[0] : crowd];
  }
  std::size_t listed_of(const Origin& origin, Crowd crowd) const;
  Crowd make_group(std::uint32_t peer);
  void join(std::uint32_t peer, Group& group);
  void count_listed(Group& group);
  std::uint32_t dissolve(Crowd crowd);

  const SeededHash hash_;
  const std::size_t listed_max_;
  PeerTable& peers_;
  NumberPool<Group> groups_;
  NumberIndex index_;
};

}  // namespace firn::tracker
