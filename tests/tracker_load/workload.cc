#include "tests/tracker_load/workload.h"

#include <algorithm>
#include <cmath>

#include "proto/messages.h"

namespace firn::tracker_load {

Workload::Workload(const WorkloadOptions& options) : options_(options) {
  double sum = 0;
  Chance chance(options.seed);
  for (std::uint32_t rank = 0; rank < options.contents; ++rank) {
    sum += std::pow(rank + 1, -options.zipf);
    shares_.push_back(sum);
    ContentId& id = ids_.emplace_back();
    for (std::uint8_t& byte : id.bytes) byte = static_cast<std::uint8_t>(chance());
    for (const bool complete : {false, true}) {
      proto::Announce announce{.content_id = id, .listen_port = 4000, .complete = complete};
      announce.peers_wanted = options.peers_wanted;
      frames_.push_back(serialize(proto::TrackerRequest(announce)).head);
    }
  }
  for (double& share : shares_) share /= sum;
}

Chance Workload::chance_of(std::size_t number) const {
  return Chance(options_.seed * 1'000'003 + number);
}

std::vector<std::uint32_t> Workload::contents_of(std::size_t number) const {
  Chance chance = chance_of(number);
  std::vector<std::uint32_t> contents;
  for (std::size_t i = 0; i < options_.contents_of_party; ++i) {
    const double drawn = std::uniform_real_distribution(0.0, 1.0)(chance);
    const auto found = std::lower_bound(shares_.begin(), shares_.end() - 1, drawn);
    contents.push_back(static_cast<std::uint32_t>(found - shares_.begin()));
  }
  return contents;
}

bool Workload::is_complete(std::size_t number) const {
  Chance chance = chance_of(number);
  chance.discard(options_.contents_of_party * 2);
  return std::uniform_real_distribution(0.0, 1.0)(chance) < options_.complete_share;
}

std::string source_ip(std::size_t number) {
  const std::size_t prefix = number % (250 * 250);
  return "127." + std::to_string(1 + prefix / 250) + "." + std::to_string(1 + prefix % 250) + "." +
         std::to_string(1 + number / (250 * 250) % 4);
}

}  // namespace firn::tracker_load
