// Which manifests are hosted, how large they are, which prefix they came from (prefix_of) and in
// what order they were kept and last used: decides which go when there is no room, in all or among
// the envelopes of a content. Knows nothing of their bytes.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracker/registry.h"
#include "tracker/signer_lists.h"

namespace firn::tracker {

// One thread.
class ManifestShelf {
 public:
  explicit ManifestShelf(const RegistryLimits& limits) : limits_(limits) {}

  std::optional<Hosted> hosted(const Envelope& envelope) const;
  // Longest unused first.
  std::vector<Envelope> all() const { return {order_.begin(), order_.end()}; }
  // Of the content's envelopes, the one that was kept first before others.
  const SignerLists::List& signers_of(const ContentId& content) const {
    return signers_.of(content);
  }
  // False: larger than all the room there may be.
  bool fits(std::uint64_t bytes) const { return bytes <= limits_.manifest_bytes_total_max; }
  // Those to drop before one more of `bytes` from `prefix` may be added, longest unused first: of
  // the prefix's own until it keeps to its share; then of the prefix that takes most room, if the
  // newcomer's takes less with this one; else of the newcomer's; else of all. So a prefix that
  // sends many manifests pushes out its own, and several that do push out theirs.
  // Of a content whose places for envelopes are taken then one goes too: of the prefix that has
  // most of them, with the new one; among these an unsigned one, then the one that was kept first.
  std::vector<Envelope> in_the_way_of(const Envelope& envelope, const std::string& prefix,
                                      std::uint64_t bytes) const;

  // As the last kept and last used.
  void add(const Envelope& envelope, const std::string& prefix, std::uint64_t bytes);
  void use(const Envelope& envelope);
  void remove(const Envelope& envelope);

 private:
  using Order = std::list<Envelope>;  // last used comes last
  using ByRoom = std::set<std::pair<std::uint64_t, std::string>>;
  struct Prefix {
    Order order;
    std::uint64_t bytes = 0;
    std::uint64_t room = 0;
  };
  struct Entry {
    std::uint64_t bytes = 0;
    std::string prefix;
    Order::iterator order, own_order;  // in order_ and in the prefix's
  };
  class Leaving;
  // What one of so many bytes takes of both limits: a small one takes a place.
  std::uint64_t room_of(std::uint64_t bytes) const {
    return bytes + limits_.manifest_bytes_total_max / limits_.manifest_count_max;
  }
  void change_room(Prefix& prefix, const std::string& name, std::uint64_t room);

  RegistryLimits limits_;
  std::unordered_map<Envelope, Entry> entries_;
  SignerLists signers_;
  std::unordered_map<std::string, Prefix> prefixes_;  // those with manifests
  ByRoom by_room_;                                    // the same
  Order order_;
  std::uint64_t bytes_total_ = 0;
};

}  // namespace firn::tracker
