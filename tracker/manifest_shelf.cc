#include "tracker/manifest_shelf.h"

#include <unordered_set>

namespace firn::tracker {

std::optional<std::uint64_t> ManifestShelf::bytes_of(const ContentId& content) const {
  const auto found = entries_.find(content);
  if (found == entries_.end()) return std::nullopt;
  return found->second.bytes;
}

std::vector<ContentId> ManifestShelf::in_the_way_of(const std::string& network,
                                                    std::uint64_t bytes) const {
  std::vector<ContentId> leaving;
  std::unordered_set<ContentId> own_leaving;
  std::uint64_t total = bytes_total_;
  std::size_t count = entries_.size();
  const auto leave = [&](const ContentId& content) {
    leaving.push_back(content);
    total -= entries_.at(content).bytes;
    --count;
  };

  if (const auto found = networks_.find(network); found != networks_.end()) {
    const std::uint64_t share_bytes = limits_.manifest_bytes_total_max / limits_.manifest_shares;
    const std::size_t share_count = limits_.manifest_count_max / limits_.manifest_shares;
    std::uint64_t own_bytes = found->second.bytes;
    std::size_t own_count = found->second.order.size();
    for (const ContentId& oldest : found->second.order) {
      if (own_bytes + bytes <= share_bytes && own_count < share_count) break;
      leave(oldest);
      own_leaving.insert(oldest);
      own_bytes -= entries_.at(oldest).bytes;
      --own_count;
    }
  }
  for (const ContentId& oldest : order_) {
    if (total + bytes <= limits_.manifest_bytes_total_max && count < limits_.manifest_count_max)
      break;
    if (!own_leaving.contains(oldest)) leave(oldest);
  }
  return leaving;
}

void ManifestShelf::add(const ContentId& content, const std::string& network, std::uint64_t bytes) {
  remove(content);
  Network& own = networks_[network];
  own.bytes += bytes;
  bytes_total_ += bytes;
  entries_[content] = {bytes, network, order_.insert(order_.end(), content),
                       own.order.insert(own.order.end(), content)};
}

void ManifestShelf::use(const ContentId& content) {
  const auto found = entries_.find(content);
  if (found == entries_.end()) return;
  order_.splice(order_.end(), order_, found->second.order);
  Order& own = networks_.at(found->second.network).order;
  own.splice(own.end(), own, found->second.own_order);
}

void ManifestShelf::remove(const ContentId& content) {
  const auto found = entries_.find(content);
  if (found == entries_.end()) return;
  const Entry& entry = found->second;
  const auto network = networks_.find(entry.network);
  network->second.bytes -= entry.bytes;
  network->second.order.erase(entry.own_order);
  if (network->second.order.empty()) networks_.erase(network);
  bytes_total_ -= entry.bytes;
  order_.erase(entry.order);
  entries_.erase(found);
}

}  // namespace firn::tracker
