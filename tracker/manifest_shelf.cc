#include "tracker/manifest_shelf.h"

#include <algorithm>
#include <unordered_set>

namespace firn::tracker {

std::optional<std::uint64_t> ManifestShelf::bytes_of(const ContentId& content) const {
  const auto found = entries_.find(content);
  if (found == entries_.end()) return std::nullopt;
  return found->second.bytes;
}

std::string ManifestShelf::prefix_of(const ContentId& content) const {
  const auto found = entries_.find(content);
  return found == entries_.end() ? std::string() : found->second.prefix;
}

// What the shelf would be without those that have been chosen to leave.
class ManifestShelf::Leaving {
 public:
  explicit Leaving(const ManifestShelf& shelf)
      : shelf_(shelf), bytes_(shelf.bytes_total_), count_(shelf.entries_.size()) {}

  std::uint64_t bytes() const { return bytes_; }
  std::size_t count() const { return count_; }
  std::uint64_t room_of(const std::string& name, const Prefix& prefix) const {
    const auto freed = freed_.find(name);
    return prefix.room - (freed == freed_.end() ? 0 : freed->second);
  }
  // The prefix that takes most room now: few have lost any.
  std::string largest() const {
    std::pair<std::uint64_t, std::string> most;
    for (const auto& [name, _] : freed_) {
      most = std::max(most, {room_of(name, shelf_.prefixes_.at(name)), name});
    }
    for (auto it = shelf_.by_room_.rbegin(); it != shelf_.by_room_.rend(); ++it) {
      if (!freed_.contains(it->second)) return std::max(most, *it).second;
    }
    return most.second;
  }
  // The longest unused of those; false if none is left.
  bool take_first(const Order& order) {
    for (const ContentId& oldest : order) {
      if (chosen_.contains(oldest)) continue;
      take(oldest);
      return true;
    }
    return false;
  }
  std::vector<ContentId> all() && { return std::move(list_); }

 private:
  void take(const ContentId& content) {
    const Entry& entry = shelf_.entries_.at(content);
    chosen_.insert(content);
    list_.push_back(content);
    bytes_ -= entry.bytes;
    --count_;
    freed_[entry.prefix] += shelf_.room_of(entry.bytes);
  }

  const ManifestShelf& shelf_;
  std::uint64_t bytes_;
  std::size_t count_;
  std::vector<ContentId> list_;
  std::unordered_set<ContentId> chosen_;
  std::unordered_map<std::string, std::uint64_t> freed_;  // by prefix
};

std::vector<ContentId> ManifestShelf::in_the_way_of(const std::string& prefix,
                                                    std::uint64_t bytes) const {
  Leaving leaving(*this);
  const auto own = prefixes_.find(prefix);
  if (own != prefixes_.end()) {
    const std::uint64_t share_bytes = limits_.manifest_bytes_total_max / limits_.manifest_shares;
    const std::size_t share_count = limits_.manifest_count_max / limits_.manifest_shares;
    const std::uint64_t others_bytes = bytes_total_ - own->second.bytes;
    const std::size_t others_count = entries_.size() - own->second.order.size();
    while (leaving.bytes() - others_bytes + bytes > share_bytes ||
           leaving.count() - others_count >= share_count) {
      if (!leaving.take_first(own->second.order)) break;
    }
  }
  while (leaving.bytes() + bytes > limits_.manifest_bytes_total_max ||
         leaving.count() >= limits_.manifest_count_max) {
    if (leaving.count() == 0) break;
    const std::string largest = leaving.largest();
    const auto most = prefixes_.find(largest);
    const std::uint64_t held = own == prefixes_.end() ? 0 : leaving.room_of(prefix, own->second);
    const bool gives_way =
        largest != prefix && held + room_of(bytes) < leaving.room_of(largest, most->second);
    if (gives_way) {
      leaving.take_first(most->second.order);
    } else if (own == prefixes_.end() || !leaving.take_first(own->second.order)) {
      leaving.take_first(order_);
    }
  }
  return std::move(leaving).all();
}

void ManifestShelf::change_room(Prefix& prefix, const std::string& name, std::uint64_t room) {
  if (prefix.room > 0) by_room_.erase({prefix.room, name});
  prefix.room = room;
  if (prefix.room > 0) by_room_.insert({prefix.room, name});
}

void ManifestShelf::add(const ContentId& content, const std::string& prefix, std::uint64_t bytes) {
  remove(content);
  Prefix& own = prefixes_[prefix];
  own.bytes += bytes;
  change_room(own, prefix, own.room + room_of(bytes));
  bytes_total_ += bytes;
  entries_[content] = {bytes, prefix, order_.insert(order_.end(), content),
                       own.order.insert(own.order.end(), content)};
}

void ManifestShelf::use(const ContentId& content) {
  const auto found = entries_.find(content);
  if (found == entries_.end()) return;
  order_.splice(order_.end(), order_, found->second.order);
  Order& own = prefixes_.at(found->second.prefix).order;
  own.splice(own.end(), own, found->second.own_order);
}

void ManifestShelf::remove(const ContentId& content) {
  const auto found = entries_.find(content);
  if (found == entries_.end()) return;
  const Entry& entry = found->second;
  const auto prefix = prefixes_.find(entry.prefix);
  prefix->second.bytes -= entry.bytes;
  change_room(prefix->second, entry.prefix, prefix->second.room - room_of(entry.bytes));
  prefix->second.order.erase(entry.own_order);
  if (prefix->second.order.empty()) prefixes_.erase(prefix);
  bytes_total_ -= entry.bytes;
  order_.erase(entry.order);
  entries_.erase(found);
}

}  // namespace firn::tracker
