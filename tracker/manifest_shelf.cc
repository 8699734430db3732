#include "tracker/manifest_shelf.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_set>

namespace firn::tracker {

std::optional<Hosted> ManifestShelf::hosted(const Envelope& envelope) const {
  const auto found = entries_.find(envelope);
  if (found == entries_.end()) return std::nullopt;
  return Hosted{found->second.bytes, found->second.prefix};
}

// What the shelf would be without those that have been chosen to leave. Nothing is looked at twice,
// as thousands may leave at once: where it has looked stays known, and only chosen ones are passed
// over later.
class ManifestShelf::Leaving {
 public:
  explicit Leaving(const ManifestShelf& shelf)
      : shelf_(shelf),
        bytes_(shelf.bytes_total_),
        count_(shelf.entries_.size()),
        next_(shelf.order_.begin()),
        next_whole_(shelf.by_room_.rbegin()) {}

  std::uint64_t bytes() const { return bytes_; }
  std::size_t count() const { return count_; }
  std::uint64_t room_of(const std::string& prefix) const {
    if (const auto some = lessened_.find(prefix); some != lessened_.end()) return some->second.room;
    const auto whole = shelf_.prefixes_.find(prefix);
    return whole == shelf_.prefixes_.end() ? 0 : whole->second.room;
  }
  // The prefix that takes most room now, and how much; none and 0 if none takes any.
  std::pair<std::uint64_t, std::string> largest() {
    while (next_whole_ != shelf_.by_room_.rend() && lessened_.contains(next_whole_->second))
      ++next_whole_;
    std::pair<std::uint64_t, std::string_view> most{};
    if (next_whole_ != shelf_.by_room_.rend()) most = *next_whole_;
    if (!lessened_by_room_.empty()) most = std::max(most, *lessened_by_room_.rbegin());
    return {most.first, std::string(most.second)};
  }
  // The longest unused of the prefix; false if none is left.
  bool take_of(const std::string& prefix) {
    const auto found = shelf_.prefixes_.find(prefix);
    return found != shelf_.prefixes_.end() &&
           take_next(found->second.order, lessened(found->first, found->second).next);
  }
  bool take_any() { return take_next(shelf_.order_, next_); }
  // Of the content's envelopes that are left, the one that makes place for another from `prefix`.
  void take_of(const ContentId& content, const std::string& prefix) {
    std::vector<Envelope> left;
    std::unordered_map<std::string, std::size_t> counts{{prefix, 1}};
    for (const PublicKey& signer : shelf_.signers_of(content)) {
      const Envelope envelope(content, signer);
      if (chosen_.contains(envelope)) continue;
      left.push_back(envelope);
      ++counts[shelf_.entries_.at(envelope).prefix];
    }
    if (left.size() < shelf_.limits_.envelopes_per_content_max) return;
    const auto rank = [&](const Envelope& envelope) {
      const std::string& of = shelf_.entries_.at(envelope).prefix;
      return std::tuple(counts[of], of == prefix, envelope.signer == PublicKey());
    };
    take(*std::ranges::max_element(left, {}, rank));
  }
  std::vector<Envelope> all() && { return std::move(list_); }

 private:
  // A prefix that has lost some.
  struct Lessened {
    std::uint64_t room;
    Order::const_iterator next;  // the first that may be left
  };

  Lessened& lessened(std::string_view name, const Prefix& prefix) {
    const auto [entry, added] =
        lessened_.try_emplace(name, Lessened{prefix.room, prefix.order.begin()});
    if (added) lessened_by_room_.insert({prefix.room, name});
    return entry->second;
  }
  bool take_next(const Order& order, Order::const_iterator& next) {
    while (next != order.end() && chosen_.contains(*next)) ++next;
    if (next == order.end()) return false;
    take(*next++);
    return true;
  }
  void take(const Envelope& envelope) {
    const Entry& entry = shelf_.entries_.at(envelope);
    chosen_.insert(envelope);
    list_.push_back(envelope);
    bytes_ -= entry.bytes;
    --count_;
    const auto prefix = shelf_.prefixes_.find(entry.prefix);
    Lessened& lost = lessened(prefix->first, prefix->second);
    lessened_by_room_.erase({lost.room, prefix->first});
    lost.room -= shelf_.room_of(entry.bytes);
    lessened_by_room_.insert({lost.room, prefix->first});
  }

  const ManifestShelf& shelf_;
  std::uint64_t bytes_;
  std::size_t count_;
  std::vector<Envelope> list_;
  std::unordered_set<Envelope> chosen_;
  Order::const_iterator next_;  // of all, the first that may be left
  // Names are the shelf's. The largest that has lost none comes at next_whole_ or after it.
  std::unordered_map<std::string_view, Lessened> lessened_;
  std::set<std::pair<std::uint64_t, std::string_view>> lessened_by_room_;
  ByRoom::const_reverse_iterator next_whole_;
};

std::vector<Envelope> ManifestShelf::in_the_way_of(const Envelope& envelope,
                                                   const std::string& prefix,
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
      if (!leaving.take_of(prefix)) break;
    }
  }
  while (leaving.bytes() + bytes > limits_.manifest_bytes_total_max ||
         leaving.count() >= limits_.manifest_count_max) {
    if (leaving.count() == 0) break;
    const auto [most, largest] = leaving.largest();
    const bool gives_way = largest != prefix && leaving.room_of(prefix) + room_of(bytes) < most;
    if (!leaving.take_of(gives_way ? largest : prefix)) leaving.take_any();
  }
  leaving.take_of(envelope.content, prefix);
  return std::move(leaving).all();
}

void ManifestShelf::change_room(Prefix& prefix, const std::string& name, std::uint64_t room) {
  if (prefix.room > 0) by_room_.erase({prefix.room, name});
  prefix.room = room;
  if (prefix.room > 0) by_room_.insert({prefix.room, name});
}

void ManifestShelf::add(const Envelope& envelope, const std::string& prefix, std::uint64_t bytes) {
  remove(envelope);
  Prefix& own = prefixes_[prefix];
  own.bytes += bytes;
  change_room(own, prefix, own.room + room_of(bytes));
  bytes_total_ += bytes;
  entries_[envelope] = {bytes, prefix, order_.insert(order_.end(), envelope),
                        own.order.insert(own.order.end(), envelope)};
  signers_.add(envelope);
}

void ManifestShelf::use(const Envelope& envelope) {
  const auto found = entries_.find(envelope);
  if (found == entries_.end()) return;
  order_.splice(order_.end(), order_, found->second.order);
  Order& own = prefixes_.at(found->second.prefix).order;
  own.splice(own.end(), own, found->second.own_order);
}

void ManifestShelf::remove(const Envelope& envelope) {
  const auto found = entries_.find(envelope);
  if (found == entries_.end()) return;
  const Entry& entry = found->second;
  const auto prefix = prefixes_.find(entry.prefix);
  prefix->second.bytes -= entry.bytes;
  change_room(prefix->second, entry.prefix, prefix->second.room - room_of(entry.bytes));
  prefix->second.order.erase(entry.own_order);
  if (prefix->second.order.empty()) prefixes_.erase(prefix);
  bytes_total_ -= entry.bytes;
  signers_.remove(envelope);
  order_.erase(entry.order);
  entries_.erase(found);
}

}  // namespace firn::tracker
