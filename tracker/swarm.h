// The peers of one content as a tracker knows them: kinds, counts, samples. Peers are grouped by
// prefix (an IPv4 /24, an IPv6 /48), so that a sample can be spread over prefixes. Their records
// lie in tables that all swarms share; a swarm itself is 56 bytes and a list of its prefixes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "tracker/fair_shares.h"
#include "tracker/prefix_table.h"
#include "tracker/registry.h"

namespace firn::tracker {

// What the swarms of a table share.
struct PeerTables {
  PeerTables(const SeededHash& hash, std::size_t listed_per_network_max)
      : peers(hash), prefixes(hash, listed_per_network_max, peers) {}
  PeerTables(const PeerTables&) = delete;

  PeerTable peers;
  PrefixTable prefixes;
};

// One thread. Peers are named by their numbers in the tables, which are the same with each call.
class Swarm {
 public:
  // Brings a known peer up to date if it announces what it announced before. False: it does not,
  // or another place among its network's peers may be free for it, and change() must look.
  bool renew(std::uint32_t peer, const PackedPeer& announced, Time now, PeerTables& tables);
  // `peer`: has just been added to the tables.
  void add(std::uint32_t peer, PeerTables& tables);
  void change(std::uint32_t peer, const PackedPeer& announced, PeerTables& tables);
  // Before it goes from the tables.
  void remove(std::uint32_t peer, PeerTables& tables);

  template <class Visit>
  void for_each(const PeerTables& tables, const Visit& visit) const {
    for (std::uint32_t slot = 0; slot < crowds_.size(); ++slot)
      tables.prefixes.for_each_member(crowds_[slot], visit);
  }
  std::size_t size() const { return size_; }
  // What incomplete peers have on average, of those that say it; nullopt: none does.
  std::optional<std::uint32_t> mean_percent() const {
    if (lacking_ == 0) return std::nullopt;
    return 100 - (lacking_percent_ + lacking_ - 1) / lacking_;
  }
  SwarmCounts counts() const { return {complete_, size_ - complete_}; }
  // From how many prefixes its peers come: one party has a few addresses, rarely many prefixes.
  std::size_t prefix_count() const { return crowds_.size(); }
  // Of a full swarm, a peer; kNone: the newcomer is turned away. The shares are counted from the
  // first such question on, until peers have left half of the places.
  std::uint32_t gives_way(const Origin& newcomer, std::uint64_t seed, PeerTables& tables);

  // Different reachable peers, at most kAnnouncePeersMax and at most one of each prefix in turn;
  // which prefixes, and which peers of a prefix, is chance.
  void sample(const SampleRequest& request, const PeerTables& tables, Random& random,
              Endpoints& into) const;

 private:
  struct Shares {
    explicit Shares(std::uint64_t seed) : of_peers(seed) {}
    FairShares<std::uint32_t> of_peers;
    std::uint32_t until = 0;  // so few peers
  };

  void place(std::uint32_t peer, PeerTables& tables);
  void displace(std::uint32_t peer, PeerTables& tables);
  void count_lack(const PackedPeer& before, const PackedPeer& now);
  void share_out(std::uint64_t seed, PeerTables& tables);

  KindList crowds_;                         // by the best of their peers
  std::array<std::uint32_t, 2> fitting_{};  // peers, by With
  std::uint32_t size_ = 0, complete_ = 0;
  std::uint32_t lacking_ = 0, lacking_percent_ = 0;  // peers that say what they lack, and its sum
  std::unique_ptr<Shares> shares_;
};
static_assert(sizeof(Swarm) == 56);  // there may be a million

}  // namespace firn::tracker
