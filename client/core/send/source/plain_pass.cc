#include "client/core/send/source/plain_pass.h"

#include <algorithm>

namespace firn::core::policy {

constexpr double kPlainLostBlocks = 24;
constexpr double kPlainSpread = 1.0 / 8;
constexpr TimeUs kPlainReviewEach = kMillisecond / 100;  // double: +4 % [096]
constexpr std::size_t kPlainTellers = 256;

bool PlainPass::sent(std::uint32_t g, std::uint32_t i, PeerKey to, TimeUs now) {
  if (!sent_.contains(g)) {
    if (sent_.size() == kGivenKept) sent_.erase(sent_.begin());
    sent_[g] = {std::vector<Sent>(shape_.blocks_in(g)), 0, shape_.blocks_in(g)};
  }
  Generation& of = sent_[g];
  Sent& block = of.blocks[i];
  const bool first = block.to == kNoPeer;
  of.never -= first;
  of.lost -= block.lost;
  block = {to, now, false};
  return first;
}

// All are looked at, but few asked: of many a part tells as much.
void PlainPass::review_one(std::uint32_t g, Generation& sent, const Neighbours& neighbours,
                           TimeUs patience, TimeUs now) {
  struct Teller {
    PeerKey key;
    const BlockBits* bits;  // null: it holds all
  };
  std::vector<Teller> tell;
  bool asked = false;
  const std::size_t step = neighbours.size() / kPlainTellers + 1;
  std::size_t place = g;  // another part for each generation
  for (const Neighbour& n : neighbours) {
    if (++place % step != 0 || n.holds.has_everything() || n.low_worth()) continue;
    const BlockBits* bits = n.holds.held_blocks().find(g);
    asked |= bits != nullptr;
    if (bits || n.holds.complete().contains(g)) tell.push_back({n.key, bits});
  }
  // Few may lie.
  const auto spread = [&tell](std::uint32_t i, PeerKey to) {
    std::size_t holders = 0;
    for (const Teller& one : tell)
      holders += one.key != to && (!one.bits || has_block(*one.bits, i));
    return holders > 0 &&
           static_cast<double>(holders) >= kPlainSpread * static_cast<double>(tell.size());
  };
  sent.lost = 0;
  for (std::uint32_t i = 0; i < sent.blocks.size(); ++i) {
    Sent& one = sent.blocks[i];
    one.lost = asked && one.to != kNoPeer && now - one.at >= patience && !spread(i, one.to);
    sent.lost += one.lost;
  }
}

void PlainPass::review(const Neighbours& neighbours, double usual_uplink, TimeUs now) {
  if (!some_tell_ || sent_.empty() || now < review_due_) return;
  review_due_ = now + kPlainReview + static_cast<TimeUs>(neighbours.size()) * kPlainReviewEach;
  auto next = sent_.upper_bound(reviewed_);
  if (next == sent_.end()) {
    next = sent_.begin();
    some_tell_ = std::any_of(neighbours.begin(), neighbours.end(),
                             [](const Neighbour& n) { return n.holds.held_blocks().any(); });
  }
  reviewed_ = next->first;
  const double kib_per_second = usual_uplink > 0 ? usual_uplink : 1024;
  const double block_seconds = shape_.block_bytes / (kib_per_second * 1024);
  const auto slowly = static_cast<TimeUs>(kPlainLostBlocks * block_seconds * kSecond);
  review_one(next->first, next->second, neighbours, std::max(kPlainLost, slowly), now);
}

std::optional<std::uint32_t> PlainPass::lost(const Neighbour& n, const FirstPass& pass) const {
  std::optional<std::uint32_t> lowest;
  for (const auto& [g, bits] : n.holds.held_blocks()) {
    if (lowest && g > *lowest) continue;
    const auto known = sent_.find(g);
    const bool over = pass.whole(g);
    if (known == sent_.end()) {
      const bool forgotten = !sent_.empty() && g < sent_.begin()->first;
      if (!over || forgotten) continue;
    } else if (known->second.lost + (over ? known->second.never : 0) == 0) {
      continue;
    }
    const WantedSet* wanted = n.holds.wanted_blocks(g);
    if (!wanted || !wanted->any_open()) continue;
    for (std::uint32_t i = 0; i < shape_.blocks_in(g); ++i) {
      if (!wanted->open(i)) continue;
      const Sent one = known == sent_.end() ? Sent{} : known->second.blocks[i];
      if (!one.lost && !(over && one.to == kNoPeer)) continue;
      lowest = g;
      break;
    }
  }
  return lowest;
}

std::optional<std::uint32_t> PlainPass::due(const Neighbour& n, std::uint32_t g) const {
  const WantedSet* wanted = n.holds.wanted_blocks(g);
  const auto known = sent_.find(g);
  if (known != sent_.end() && known->second.lost + known->second.never == 0) return std::nullopt;
  for (std::uint32_t i = 0; wanted && i < shape_.blocks_in(g); ++i) {
    if (wanted->open(i) && (known == sent_.end() || known->second.blocks[i].open())) return i;
  }
  return std::nullopt;
}

}  // namespace firn::core::policy
