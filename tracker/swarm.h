// The peers of one content as a tracker knows them: kinds, counts, samples. Peers are grouped by
// prefix (an IPv4 /24, an IPv6 /48), so that a sample can be spread over prefixes.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracker/fair_shares.h"
#include "tracker/registry.h"

namespace firn::tracker {

using PeerKey = std::pair<ContentId, PeerId>;
// Names a peer by keys of the tables that hold it.
struct PeerRef {
  const ContentId* content;
  const PeerId* id;
  PeerKey key() const { return {*content, *id}; }
};
using AgeList = std::list<PeerRef>;  // last announced comes last

// One thread. Neither copied nor moved: its parts name one another.
class Swarm {
 public:
  explicit Swarm(std::size_t listed_per_network_max) : listed_max_(listed_per_network_max) {}

  // What its table keeps of a peer: where it stands in the table's own orders.
  struct TablePlaces {
    AgeList::iterator age;
    FairShares<AgeList::iterator>::Place share;
    bool shared = false;  // `share` is one
  };
  struct Known {
    PackedPeer peer;
    Time seen{};
    TablePlaces places;
  };

  const Known* find(const PeerId& id) const;
  TablePlaces& places_of(const PeerId& id) { return entries_.at(id).known.places; }
  // Brings a known peer up to date if it announces what it announced before. False: it does not,
  // or another place among its network's peers may be free for it, and announce() must look.
  bool renew(const PackedPeer& peer, Time now);
  // Adds the peer or brings it up to date.
  void announce(const PackedPeer& peer, const Where& where, Time now);
  void leave(const PeerId& id);

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [id, entry] : entries_) visit(entry.known);
  }
  std::size_t size() const { return entries_.size(); }
  SwarmCounts counts() const;
  // From how many prefixes its peers come: one party has a few addresses, rarely many prefixes.
  std::size_t prefix_count() const { return groups_.size(); }
  // Of a full swarm; null: the newcomer is turned away. The shares are counted from the first such
  // question on, until peers have left half of the places.
  const PeerId* gives_way(const Where& newcomer);

  // Different reachable peers, at most kAnnouncePeersMax and at most one of each prefix in turn;
  // which prefixes, and which peers of a prefix, is chance.
  void sample(const SampleRequest& request, Random& random, Endpoints& into) const;

 private:
  // Peers of one prefix lie in one vector by kind, so that a sample draws from those that fit.
  // Spreads keys that differ in few bits over a table.
  struct KeyHash {
    std::size_t operator()(std::uint64_t key) const noexcept {
      key *= 0x9e3779b97f4a7c15u;
      return static_cast<std::size_t>(key ^ key >> 32);
    }
  };
  enum Kind : std::uint8_t { kIncomplete, kComplete, kHidden };
  struct Entry;
  enum With { kWithIncomplete, kWithAny };
  // The peers of a prefix: incomplete ones first, then complete ones, then hidden ones.
  class Group {
   public:
    std::array<std::uint32_t, 2> slots{};  // in groups_with_

    void add(Entry* entry);  // by its kind
    void remove(Entry* entry);
    std::size_t size() const { return peers_.size(); }
    std::size_t fitting(With with) const { return ends_[with]; }
    const Entry& at(std::size_t index) const { return *peers_[index]; }

   private:
    void swap(std::uint32_t a, std::uint32_t b);

    std::vector<Entry*> peers_;
    std::array<std::uint32_t, 2> ends_{};  // of incomplete ones, of complete ones
  };
  // A group that has peers for a sample; `only`: its one peer that fits, if it has no more. Most
  // prefixes have one peer, which is then found without going through the group.
  struct Listed {
    Group* group = nullptr;
    const Entry* only = nullptr;
  };
  struct Entry {
    Known known;
    FairShares<PeerId>::Place share = {};
    std::uint32_t slot = 0;  // in its group
    Kind kind = kHidden;
  };
  using Groups = std::vector<Listed>;

  Kind kind_of(const PackedPeer& peer) const;
  void place(Entry& entry);
  void displace(Entry& entry);
  void list_group(Group& group, With with, std::size_t before);
  class Draw;
  class Round;
  void sample_again(const Groups& groups, const SampleRequest& request, Random& random,
                    Endpoints& into) const;

  const std::size_t listed_max_;
  std::unordered_map<PeerId, Entry> entries_;
  std::unordered_map<std::uint64_t, Group, KeyHash> groups_;  // by prefix
  std::array<Groups, 2> groups_with_;     // incomplete peers; any that are listed
  std::array<std::size_t, 2> fitting_{};  // peers of those groups
  std::unordered_map<std::uint64_t, std::uint32_t, KeyHash> listed_;  // peers by network
  std::uint32_t complete_ = 0;
  std::unique_ptr<FairShares<PeerId>> shares_;
  std::size_t shares_until_ = 0;  // so few peers
};

}  // namespace firn::tracker
