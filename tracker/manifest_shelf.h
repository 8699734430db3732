// Which manifests are hosted, how large they are and in what order they were last used: decides
// which go when there is no room. Knows nothing of their bytes.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
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
  // Those to drop before one more of `bytes` may be added, longest unused first.
  std::vector<ContentId> in_the_way_of(std::uint64_t bytes) const;

  void add(const ContentId& content, std::uint64_t bytes);  // as the last used
  void use(const ContentId& content);
  void remove(const ContentId& content);

 private:
  struct Entry {
    std::uint64_t bytes = 0;
    std::list<ContentId>::iterator order;
  };
  RegistryLimits limits_;
  std::unordered_map<ContentId, Entry> entries_;
  std::list<ContentId> order_;  // last used comes last
  std::uint64_t bytes_total_ = 0;
};

}  // namespace firn::tracker
