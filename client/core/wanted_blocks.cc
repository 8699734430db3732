#include "client/core/wanted_blocks.h"

#include <algorithm>

#include "proto/base/limits.h"

namespace firn::core {

bool WantedBlocks::Set::any_open() const {
  for (std::size_t byte = 0; byte < wanted_.size(); ++byte) {
    if ((wanted_[byte] & ~sent_[byte]) != 0) return true;
  }
  return false;
}

bool WantedBlocks::fits(const std::vector<std::uint8_t>& bits, std::uint32_t n) {
  return bits.size() == (n + 7) / 8 && (n % 8 == 0 || bits.back() >> (n % 8) == 0);
}

// A neighbour may ask so for as many generations at a time as one State can name; beyond that the
// oldest is forgotten.
void WantedBlocks::keep(std::uint32_t g, std::vector<std::uint8_t>&& bits, bool none_in_flight) {
  const auto known =
      std::find_if(sets_.begin(), sets_.end(), [g](const auto& kept) { return kept.first == g; });
  if (known != sets_.end()) {
    known->second.wanted_ = std::move(bits);
    if (none_in_flight) std::fill(known->second.sent_.begin(), known->second.sent_.end(), 0);
    return;
  }
  if (sets_.size() >= limits::kWantedBlocksMax) sets_.erase(sets_.begin());
  sets_.emplace_back(g, Set(std::move(bits)));
}

void WantedBlocks::drop(std::uint32_t g) {
  if (sets_.empty()) return;
  std::erase_if(sets_, [g](const auto& kept) { return kept.first == g; });
}

void WantedBlocks::sent(std::uint32_t g, std::uint32_t i) {
  for (auto& [generation, set] : sets_) {
    if (generation == g) set.sent_[i / 8] |= static_cast<std::uint8_t>(1 << (i % 8));
  }
}

const WantedBlocks::Set* WantedBlocks::find(std::uint32_t g) const {
  for (const auto& [generation, set] : sets_) {
    if (generation == g) return &set;
  }
  return nullptr;
}

}  // namespace firn::core
