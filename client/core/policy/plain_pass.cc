#include "client/core/policy/plain_pass.h"

#include <algorithm>

#include "client/core/policy/constants.h"

namespace firn::core::policy {

bool PlainPass::sent(std::uint32_t g, std::uint32_t i, PeerKey to, TimeUs now) {
  if (!sent_.contains(g)) {
    if (sent_.size() == kPlainKept) sent_.erase(sent_.begin());
    sent_[g].resize(shape_.blocks_in(g));
  }
  Sent& block = sent_[g][i];
  const bool first = block.to == kNoPeer;
  block = {to, now, false};
  return first;
}

// Few may lie.
bool PlainPass::spread(const std::vector<const Neighbour*>& tell, std::uint32_t g, std::uint32_t i,
                       PeerKey to) const {
  std::size_t holders = 0;
  for (const Neighbour* n : tell) {
    if (n->key == to) continue;
    const HeldBlocks::Bits* held = n->holds.held_blocks().find(g);
    holders += !held || ((*held)[i / 8] >> (i % 8) & 1) != 0;
  }
  return holders > 0 &&
         static_cast<double>(holders) >= kPlainSpread * static_cast<double>(tell.size());
}

void PlainPass::review(const Neighbours& neighbours, TimeUs now) {
  if (!some_tell_ || now - reviewed_ < kGapReview) return;
  reviewed_ = now;
  some_tell_ = false;
  for (const Neighbour& n : neighbours) some_tell_ |= n.holds.held_blocks().any();
  for (auto& [g, blocks] : sent_) {
    std::vector<const Neighbour*> tell;
    bool asked = false;
    for (const Neighbour& n : neighbours) {
      if (n.holds.has_everything() || n.doubted()) continue;
      const bool partly = n.holds.held_blocks().find(g) != nullptr;
      asked |= partly;
      if (partly || n.holds.complete().contains(g)) tell.push_back(&n);
    }
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
      Sent& one = blocks[i];
      one.lost =
          asked && one.to != kNoPeer && now - one.at >= kPlainLost && !spread(tell, g, i, one.to);
    }
  }
}

std::optional<std::uint32_t> PlainPass::lost(const Neighbour& n, const FirstPass& pass) const {
  for (const auto& [g, blocks] : sent_) {
    const WantedBlocks::Set* wanted = n.holds.wanted_blocks(g);
    const bool over = pass.whole(g);
    for (std::uint32_t i = 0; wanted && i < blocks.size(); ++i) {
      const bool never = over && blocks[i].to == kNoPeer;
      if ((never || blocks[i].lost) && wanted->open(i)) return g;
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> PlainPass::due(const Neighbour& n, std::uint32_t g) const {
  const WantedBlocks::Set* wanted = n.holds.wanted_blocks(g);
  const auto known = sent_.find(g);
  for (std::uint32_t i = 0; wanted && i < shape_.blocks_in(g); ++i) {
    const Sent* one = known == sent_.end() ? nullptr : &known->second[i];
    if (wanted->open(i) && (!one || one->to == kNoPeer || one->lost)) return i;
  }
  return std::nullopt;
}

}  // namespace firn::core::policy
