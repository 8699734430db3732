#include "tracker/manifest_shelf.h"

namespace firn::tracker {

std::optional<std::uint64_t> ManifestShelf::bytes_of(const ContentId& content) const {
  const auto found = entries_.find(content);
  if (found == entries_.end()) return std::nullopt;
  return found->second.bytes;
}

std::vector<ContentId> ManifestShelf::in_the_way_of(std::uint64_t bytes) const {
  std::vector<ContentId> leaving;
  std::uint64_t total = bytes_total_;
  std::size_t count = entries_.size();
  for (const ContentId& oldest : order_) {
    if (total + bytes <= limits_.manifest_bytes_total_max && count < limits_.manifest_count_max)
      break;
    leaving.push_back(oldest);
    total -= entries_.at(oldest).bytes;
    --count;
  }
  return leaving;
}

void ManifestShelf::add(const ContentId& content, std::uint64_t bytes) {
  remove(content);
  entries_[content] = {bytes, order_.insert(order_.end(), content)};
  bytes_total_ += bytes;
}

void ManifestShelf::use(const ContentId& content) {
  const auto found = entries_.find(content);
  if (found != entries_.end()) order_.splice(order_.end(), order_, found->second.order);
}

void ManifestShelf::remove(const ContentId& content) {
  const auto found = entries_.find(content);
  if (found == entries_.end()) return;
  bytes_total_ -= found->second.bytes;
  order_.erase(found->second.order);
  entries_.erase(found);
}

}  // namespace firn::tracker
