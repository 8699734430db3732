#include "client/core/policy/plain_shares.h"

#include <algorithm>

#include "client/core/policy/constants.h"

namespace firn::core::policy {

namespace {

// By chance, but the same for all that the receiver asks in this turn.
std::uint64_t draw(std::uint32_t g, std::uint32_t i, PeerKey peer, TimeUs now) {
  std::uint64_t x = (std::uint64_t{g} << 32 | i) * 0x9e3779b97f4a7c15;
  x += static_cast<std::uint64_t>(peer) * 0xbf58476d1ce4e5b9;
  x += static_cast<std::uint64_t>(now / kPlainTurn) * 0x94d049bb133111eb;
  x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 29) * 0x94d049bb133111eb;
  return x ^ x >> 32;
}

struct Holder {
  PeerKey key = kNoPeer;
  const HeldBlocks::Bits* bits = nullptr;  // null: all
  bool has(std::uint32_t i) const { return !bits || ((*bits)[i / 8] >> (i % 8) & 1) != 0; }
};

}  // namespace

std::vector<std::uint32_t> plain_share(const Neighbours& neighbours, const Neighbour& n,
                                       std::uint32_t g, const std::vector<std::uint32_t>& lacked,
                                       TimeUs now) {
  std::vector<Holder> holders;
  for (const Neighbour& other : neighbours) {
    if (other.suspect() || other.mistrusted || other.grants.stalled(now)) continue;
    const bool whole = other.holds.complete().contains(g);
    const HeldBlocks::Bits* bits = other.holds.held_blocks().find(g);
    if (whole || bits) holders.push_back({other.key, whole ? nullptr : bits});
  }
  if (n.suspect() && !holders.empty()) {
    if (lacked.empty()) return {};
    return {lacked[draw(g, 0, n.key, now) % lacked.size()]};
  }
  std::vector<std::uint32_t> share;
  for (const std::uint32_t i : lacked) {
    bool held = false;
    std::uint64_t best = 0, own = 0;
    for (const Holder& holder : holders) {
      if (!holder.has(i)) continue;
      held = true;
      const std::uint64_t drawn = draw(g, i, holder.key, now);
      best = std::max(best, drawn);
      if (holder.key == n.key) own = drawn;
    }
    const bool asked = held ? own != 0 && own == best : draw(g, i, n.key, now) % kPlainPush == 0;
    if (asked || (!held && n.holds.has_everything())) share.push_back(i);
  }
  return share;
}

}  // namespace firn::core::policy
