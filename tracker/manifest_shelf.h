// Which manifests are hosted, how large they are, which prefix they came from (prefix_of) and in
// what order they were last used: decides which go when there is no room. Knows nothing of their
// bytes.
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

namespace firn::tracker {

// One thread.
class ManifestShelf {
 public:
  explicit ManifestShelf(const RegistryLimits& limits) : limits_(limits) {}

  std::optional<std::uint64_t> bytes_of(const ContentId& content) const;
  // Longest unused first.
  std::vector<ContentId> all() const { return {order_.begin(), order_.end()}; }
  // Empty if there is none.
  std::string prefix_of(const ContentId& content) const;
  // False: larger than all the room there may be.
  bool fits(std::uint64_t bytes) const { return bytes <= limits_.manifest_bytes_total_max; }
  // Those to drop before one more of `bytes` from `prefix` may be added, longest unused first: of
  // the prefix's own until it keeps to its share; then of the prefix that takes most room, if the
  // newcomer's takes less with this one; else of the newcomer's; else of all. So a prefix that
  // sends many manifests pushes out its own, and several that do push out theirs.
  std::vector<ContentId> in_the_way_of(const std::string& prefix, std::uint64_t bytes) const;

  // As the last used.
  void add(const ContentId& content, const std::string& prefix, std::uint64_t bytes);
  void use(const ContentId& content);
  void remove(const ContentId& content);

 private:
  using Order = std::list<ContentId>;  // last used comes last
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
  std::unordered_map<ContentId, Entry> entries_;
  std::unordered_map<std::string, Prefix> prefixes_;  // those with manifests
  ByRoom by_room_;                                    // the same
  Order order_;
  std::uint64_t bytes_total_ = 0;
};

}  // namespace firn::tracker
