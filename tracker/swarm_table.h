// The swarms in memory: peers by content, in order of their last announce. Every registry that
// lives in one process is built on it.
#pragma once

#include <array>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracker/registry.h"

namespace firn::tracker {

// One thread.
class SwarmTable {
 public:
  explicit SwarmTable(const RegistryLimits& limits) : limits_(limits) {}

  AnnounceOutcome announce(const ContentId& content, const Peer& peer, Time now);
  bool leave(const ContentId& content, const PeerId& peer);  // false: was not there
  // Calls `gone` for each peer before it is forgotten.
  void expire(Time before, const std::function<void(const ContentId&, const PeerId&)>& gone);

  void for_each(const std::function<void(const ContentId&, const Peer&)>& visit) const;
  const Peer* find(const ContentId& content, const PeerId& peer) const;
  SwarmCounts counts(const ContentId& content) const;
  std::vector<proto::PeerEndpoint> sample(const ContentId& content, const SampleRequest& request,
                                          Random& random) const;

 private:
  // Peers of one kind lie in one vector, so that a sample draws from those that fit.
  enum Kind { kIncomplete, kComplete, kHidden, kKinds };
  struct Entry;
  using AgeList = std::list<std::pair<ContentId, PeerId>>;  // last announced comes last
  struct Entry {
    Peer peer;
    Time seen{};
    std::size_t slot = 0;  // in its kind's vector
    AgeList::iterator age;
  };
  struct Swarm {
    std::unordered_map<PeerId, Entry> entries;
    std::array<std::vector<Entry*>, kKinds> kinds;
    std::uint32_t complete = 0;
  };

  static Kind kind_of(const Peer& peer);
  static void put_in_kind(Swarm& swarm, Entry& entry);
  static void take_from_kind(Swarm& swarm, Entry& entry);

  RegistryLimits limits_;
  std::unordered_map<ContentId, Swarm> swarms_;
  AgeList ages_;
};

}  // namespace firn::tracker
