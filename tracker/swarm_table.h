// The swarms in memory: contents and their peers, in order of their last announce. Every registry
// that lives in one process is built on it.
//
// Full tables are shared (fair_shares.h). A content belongs to the address whose peer announced it
// first, and weighs the less the more prefixes its peers come from, down to an eighth: one
// announcer proves nothing. A peer belongs to its own address; of those of one network the one goes
// that has announced itself longest ago. While a table is far from full nobody's peers are counted.
// From then on each announce also counts a few of those that are there, oldest first, so that a
// full table has counted them all; one that is counted so stands as the newest of its network.
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracker/fair_shares.h"
#include "tracker/registry.h"
#include "tracker/swarm.h"

namespace firn::tracker {

// One thread.
class SwarmTable {
 public:
  // Told of each peer before it is forgotten, but for those that leave() names.
  using Gone = std::function<void(const ContentId&, const PeerId&)>;

  SwarmTable(const RegistryLimits& limits, Gone gone) : limits_(limits), gone_(std::move(gone)) {}

  // May forget others. `changed`: set if the peer is new, or another than it was.
  AnnounceOutcome announce(const ContentId& content, const PackedPeer& peer, Time now,
                           bool* changed = nullptr);
  bool leave(const ContentId& content, const PeerId& peer);  // false: was not there
  void expire(Time before);

  void for_each(const std::function<void(const ContentId&, const PackedPeer&)>& visit) const;
  const PackedPeer* find(const ContentId& content, const PeerId& peer) const;
  std::optional<SeenPeer> seen(const ContentId& content, const PeerId& peer) const;
  std::vector<ContentId> contents() const;
  void for_each_of(const ContentId& content,
                   const std::function<void(const SeenPeer&)>& visit) const;
  // Fills in the swarms and their peers; takes time in proportion to the number of swarms.
  void describe(Snapshot& snapshot) const;
  SwarmCounts counts(const ContentId& content) const;
  // Replaces what `into` holds.
  void sample(const ContentId& content, const SampleRequest& request, Random& random,
              Endpoints& into) const;

 private:
  struct Content {
    explicit Content(std::size_t listed_per_network_max) : swarm(listed_per_network_max) {}
    Swarm swarm;
    FairShares<ContentId>::Place share;
  };

  void renew(Swarm::TablePlaces& places, const PackedPeer& peer);
  AnnounceOutcome make_room(const ContentId& content, const Where& newcomer);
  void move_to_newest(AgeList::iterator peer);
  void count(Swarm::TablePlaces& places, const PackedPeer& peer);
  void count_some();
  // Whether the table is so full that a peer that announces itself is to be in peer_shares_.
  bool counts_shares() const;
  void forget(PeerKey peer);
  void forget_content(ContentId content);
  void weigh(Content& content);

  const RegistryLimits limits_;
  const Gone gone_;
  std::unordered_map<ContentId, Content> contents_;
  AgeList ages_;
  AgeList::iterator uncounted_ = ages_.end();  // peers before it are in peer_shares_
  FairShares<ContentId> content_shares_;
  FairShares<AgeList::iterator> peer_shares_;
};

}  // namespace firn::tracker
