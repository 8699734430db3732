#include "tracker/snapshot.h"

#include <algorithm>
#include <tuple>

namespace firn::tracker {

void Snapshot::sort() {
  const auto larger = [](const Line& a, const Line& b) {
    const std::uint64_t size_a = std::uint64_t{a.complete} + a.incomplete;
    const std::uint64_t size_b = std::uint64_t{b.complete} + b.incomplete;
    return std::tie(size_b, a.content) < std::tie(size_a, b.content);
  };
  const auto takes_more = [](const PublisherLine& a, const PublisherLine& b) {
    return std::tie(b.use.peers, b.use.contents, a.key) <
           std::tie(a.use.peers, a.use.contents, b.key);
  };
  std::ranges::sort(publishers, takes_more);
  publishers.resize(std::min(publishers.size(), kSwarmsMax));
  const std::size_t count = std::min(largest.size(), kSwarmsMax);
  std::ranges::partial_sort(largest, largest.begin() + static_cast<std::ptrdiff_t>(count), larger);
  largest.resize(count);
}

void Snapshot::add(const Snapshot& other) {
  swarm_count += other.swarm_count;
  complete_count += other.complete_count;
  incomplete_count += other.incomplete_count;
  connection_count += other.connection_count;
  announce_count += other.announce_count;
  accepted_count += other.accepted_count;
  unwritten += other.unwritten;
  interval = std::max(interval, other.interval);
  lag = std::max(lag, other.lag);
  if (other.redis.used) redis = other.redis;  // all shards share it
  for (std::size_t code = 0; code < refusals.size(); ++code) refusals[code] += other.refusals[code];
  publishers.insert(publishers.end(), other.publishers.begin(), other.publishers.end());
  largest.insert(largest.end(), other.largest.begin(), other.largest.end());
  sort();
}

}  // namespace firn::tracker
