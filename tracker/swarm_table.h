// The swarms in memory: contents and their peers, in order of their last announce. Every registry
// that lives in one process is built on it.
//
// Full tables are shared (fair_shares.h). A content belongs to the address whose peer announced it
// first, and weighs the less the more prefixes its peers come from, down to an eighth: one
// announcer proves nothing. A peer belongs to its own address; of those of one network the one goes
// that has announced itself longest ago. While a table is far from full nobody's peers are counted.
// From then on each announce also counts a few of those that are there, oldest first, so that a
// full table has counted them all; one that is counted so stands as the newest of its network.
//
// Peers and contents lie in arrays and are named by 32-bit numbers: about 110 bytes a peer, 70 more
// once it is counted. However large it grows, nothing is moved or hashed anew in one go but a
// single swarm's list of its prefixes.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tracker/content_table.h"
#include "tracker/fair_shares.h"
#include "tracker/registry.h"
#include "tracker/swarm.h"

namespace firn::tracker {

// One thread.
class SwarmTable {
 public:
  // Told of each peer before it is forgotten, but for those that leave() names.
  using Gone = std::function<void(const ContentId&, const PeerId&)>;

  // `seed`: of its hash tables. Strangers choose what is put there, so in a program it is chance.
  SwarmTable(const RegistryLimits& limits, Gone gone, std::uint64_t seed = 0);

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
  std::uint32_t add(const ContentId& content, const PackedPeer& peer, const Origin& origin);
  void renew(std::uint32_t peer);
  AnnounceOutcome make_room(std::uint32_t content, const Origin& newcomer);
  std::uint32_t number_of(const ContentId& content, const PeerId& peer) const;
  void move_to_newest(std::uint32_t peer);
  void count(std::uint32_t peer);
  void count_some();
  // Whether the table is so full that a peer that announces itself is to be in peer_shares_.
  bool counts_shares() const;
  void remove(std::uint32_t peer);
  void forget(std::uint32_t peer);
  void forget_content(std::uint32_t content);
  void weigh(std::uint32_t content);

  const RegistryLimits limits_;
  const Gone gone_;
  const SeededHash hash_;
  PeerTables tables_;
  ContentTable contents_;
  NumberRing ages_;                  // of peers; last announced comes last
  std::uint32_t uncounted_ = kNone;  // peers before it are in peer_shares_; kNone: all are
  FairShares<std::uint32_t> content_shares_;
  FairShares<std::uint32_t> peer_shares_;
};

}  // namespace firn::tracker
