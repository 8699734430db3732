#include "client/core/receive/stall_watch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/core/base/constants.h"
#include "client/core/neighbour/remote_holdings.h"

namespace firn::core {

StallWatch::StallWatch(const MeshPart& mesh, Uplink& uplink, const Holdings& holdings)
    : MeshPart(mesh),
      uplink_(uplink),
      holdings_(holdings),
      random_(context_.options.seed, 0x6e756c6c73),
      looked_at_(life_.began_at()) {}

TimeUs StallWatch::next_due() {
  if (idle() || std::as_const(membership_).neighbours().empty()) return kNever;
  return looked_at_ + kStallTime;
}

// As many generations as a neighbour keeps null vectors of.
void StallWatch::follow_up() {
  for (auto it = asked_.begin(); it != asked_.end();) {
    const OpenGeneration* open = holdings_.find_open(it->first);
    if (!open || open->decoding || context_.now - it->second.at >= kStallTime) {
      it = asked_.erase(it);
      continue;
    }
    if (open->rows > it->second.rows) {
      ask_again(it->first, *open);
      it->second = {open->rows, context_.now};
    }
    ++it;
  }
}

// The neighbour that sent the latest row, unless it is known to hold more: then it sends anyway.
void StallWatch::ask_again(std::uint32_t g, const OpenGeneration& open) {
  std::size_t latest = 0;
  for (std::size_t slot = 0; slot < open.vectors.size(); ++slot)
    if (open.vectors[slot] && (!open.vectors[latest] || open.arrived[slot] >= open.arrived[latest]))
      latest = slot;
  Neighbour* const n = membership_.neighbours().find(open.senders[latest]);
  if (n && n->untold.begun() && n->holds.rank(g) <= open.rows)
    n->untold.attach_null_vector(g, open.basis.random_null_vector(random_));
}

void StallWatch::step() {
  follow_up();
  if (idle() || context_.now - looked_at_ < kStallTime) return;
  looked_at_ = context_.now;
  uplink_.stir();
  const auto& open = holdings_.open();
  auto it = open.upper_bound(last_);
  for (std::size_t looked = 0; looked < std::min<std::size_t>(open.size(), kScanMax);
       ++looked, ++it) {
    if (it == open.end()) it = open.begin();
    const std::uint32_t g = last_ = it->first;
    if (!stands_still(g, it->second)) continue;
    const std::vector<std::uint8_t> z = it->second.basis.random_null_vector(random_);
    for (Neighbour& n : membership_.neighbours()) {
      if (n.untold.begun() && n.holds.rank(g) > 0) n.untold.attach_null_vector(g, z);
    }
    if (asked_.size() < kNullVectorsKept) asked_[g] = {it->second.rows, context_.now};
    break;
  }
}

bool StallWatch::stands_still(std::uint32_t g, const OpenGeneration& open) const {
  const TimeUs still = context_.now - open.last_growth;
  if (open.decoding || still < kStallTime) return false;
  bool more = false, some = false;
  for (const Neighbour& n : std::as_const(membership_).neighbours()) {
    const std::uint32_t rank = n.holds.rank(g);
    some |= rank > 0;
    more |= rank > open.rows;
  }
  // A neighbour that claims more will send it, if the claim is true.
  return some && (!more || still >= kStallVoid);
}

}  // namespace firn::core
