#include "client/core/trust/plain_shares.h"

#include <algorithm>

namespace firn::core::trust {

namespace {

constexpr std::uint64_t kPlainTurnBytes = 64 << 10;
// A receiver chooses again after this time which neighbour it asks for which block; the States to
// all neighbours are made from one choice.
constexpr TimeUs kPlainSharesAge = 50 * kMillisecond;
// A receiver asks one of so many neighbours for a block that none says it holds [079].
constexpr std::uint64_t kPlainPush = 5;

// By chance, but the same for all that the receiver asks in this turn.
std::uint64_t draw(std::uint32_t g, std::uint32_t i, PeerKey peer, std::uint64_t turn) {
  std::uint64_t x = (std::uint64_t{g} << 32 | i) * 0x9e3779b97f4a7c15;
  x += static_cast<std::uint64_t>(peer) * 0xbf58476d1ce4e5b9;
  x += turn * 0x94d049bb133111eb;
  x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 29) * 0x94d049bb133111eb;
  return x ^ x >> 32;
}

// Null, where it has said nothing of g: it may hold it.
bool has(const BlockBits* bits, std::uint32_t i) {
  return !bits || has_block(*bits, i);
}

}  // namespace

TimeUs PlainShares::turn_time() const {
  const std::uint64_t times = std::max<std::uint64_t>(shape_.block_bytes / kPlainTurnBytes, 1);
  return static_cast<TimeUs>(times) * kPlainTurn;
}

const PlainShares::Turn& PlainShares::turn_of(const Neighbours& neighbours, std::uint32_t g,
                                              TimeUs now) {
  Turn& turn = turns_[g];
  const auto number = static_cast<std::uint64_t>(now / turn_time());
  const bool fresh = !turn.asked_of.empty() && now - turn.at < kPlainSharesAge;
  if (fresh && turn.number == number) return turn;
  const std::uint32_t blocks = shape_.blocks_in(g);
  turn = {number, now, std::vector<PeerKey>(blocks, kNoPeer), false};
  std::vector<std::uint64_t> best(blocks);
  for (const Neighbour& n : neighbours) {
    if (is_suspect(n.regard()) || is_suspended(n.regard())) continue;
    const bool whole = n.holds.complete().contains(g);
    const BlockBits* bits = n.holds.held_blocks().find(g);
    if (!whole && !bits) continue;
    turn.any_holder = true;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      if (!whole && !has(bits, i)) continue;
      const std::uint64_t drawn = draw(g, i, n.key, number);
      if (turn.asked_of[i] != kNoPeer && drawn <= best[i]) continue;
      best[i] = drawn;
      turn.asked_of[i] = n.key;
    }
  }
  return turn;
}

std::vector<std::uint32_t> PlainShares::of(const Neighbours& neighbours, const Neighbour& n,
                                           std::uint32_t g,
                                           const std::vector<std::uint32_t>& lacked, TimeUs now) {
  const Turn& turn = turn_of(neighbours, g, now);
  std::vector<std::uint32_t> share;
  if (is_suspect(n.regard()) && turn.any_holder) {
    const BlockBits* bits =
        n.holds.complete().contains(g) ? nullptr : n.holds.held_blocks().find(g);
    std::copy_if(lacked.begin(), lacked.end(), std::back_inserter(share),
                 [bits](std::uint32_t i) { return has(bits, i); });
    if (share.empty()) return {};
    return {share[draw(g, 0, n.key, turn.number) % share.size()]};
  }
  for (const std::uint32_t i : lacked) {
    const PeerKey holder = turn.asked_of[i];
    const bool asked = holder != kNoPeer ? holder == n.key
                                         : n.holds.has_everything() ||
                                               draw(g, i, n.key, turn.number) % kPlainPush == 0;
    if (asked) share.push_back(i);
  }
  return share;
}

}  // namespace firn::core::trust
