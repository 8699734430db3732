// Which manifests are hosted, how large they are, which network they came from and in what order
// they were last used: decides which go when there is no room. Knows nothing of their bytes.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracker/registry.h"

namespace firn::tracker {

// One thread.
class ManifestShelf {
 public:
  explicit ManifestShelf(const RegistryLimits& limits) : limits_(limits) {}

  std::optional<std::uint64_t> bytes_of(const ContentId& content) const;
  // False: larger than all the room there may be.
  bool fits(std::uint64_t bytes) const { return bytes <= limits_.manifest_bytes_total_max; }
  // Those to drop before one more of `bytes` from `network` may be added: of the network's own
  // until it keeps to its share, then of all, longest unused first. So a network that sends many
  // manifests pushes out its own.
  std::vector<ContentId> in_the_way_of(const std::string& network, std::uint64_t bytes) const;

  // As the last used.
  void add(const ContentId& content, const std::string& network, std::uint64_t bytes);
  void use(const ContentId& content);
  void remove(const ContentId& content);

 private:
  using Order = std::list<ContentId>;  // last used comes last
  struct Network {
    Order order;
    std::uint64_t bytes = 0;
  };
  struct Entry {
    std::uint64_t bytes = 0;
    std::string network;
    Order::iterator order, own_order;  // in order_ and in the network's
  };
  RegistryLimits limits_;
  std::unordered_map<ContentId, Entry> entries_;
  std::unordered_map<std::string, Network> networks_;  // those with manifests
  Order order_;
  std::uint64_t bytes_total_ = 0;
};

}  // namespace firn::tracker
