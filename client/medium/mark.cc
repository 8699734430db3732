#include "client/medium/mark.h"

#include <cmath>

#include "codec/random.h"
#include "proto/base/result.h"

namespace firn::medium {
namespace {

// How much less likely one more edit makes a place for a mark's end; right to an order of magnitude
// is enough for a start of the decoder.
constexpr double kEditOdds = 0.03;
constexpr std::uint64_t kMarkSeed = 0x4649524e4d41524b;

}  // namespace

MarkFinder::MarkFinder(std::span<const std::uint8_t> pattern, double share)
    : top_(Word{1} << (pattern.size() - 1)),
      plus_(top_ | (top_ - 1)),
      score_(static_cast<unsigned>(pattern.size())),
      limit_(static_cast<unsigned>(static_cast<double>(pattern.size()) * share)) {
  FIRN_CHECK(!pattern.empty() && pattern.size() <= kMarkBits);
  for (std::size_t i = 0; i < pattern.size(); ++i) positions_[pattern[i]] |= Word{1} << i;
  scores_.fill(score_);
}

unsigned MarkFinder::score(std::uint8_t bit) {
  const Word equal = positions_[bit];
  const Word vertical = equal | minus_;
  const Word horizontal = (((equal & plus_) + plus_) ^ plus_) | equal;
  Word up = minus_ | ~(horizontal | plus_);
  Word down = plus_ & horizontal;
  score_ += (up & top_) != 0 ? 1 : 0;
  score_ -= (down & top_) != 0 ? 1 : 0;
  up <<= 1;  // no 1 comes in: the pattern may begin anywhere
  down <<= 1;
  plus_ = down | ~(vertical | up);
  minus_ = up & vertical;
  return score_;
}

std::optional<FoundMark> MarkFinder::next(std::uint8_t bit) {
  constexpr std::int64_t kRing = 2 * kReach + 1;
  ++place_;
  scores_[static_cast<std::size_t>(place_ % kRing)] = score(bit);
  const std::int64_t middle = place_ - kReach;
  if (middle < 1) return std::nullopt;
  const auto at = [&](std::int64_t place) {
    return scores_[static_cast<std::size_t>((place + kRing) % kRing)];
  };
  const unsigned least = at(middle);
  if (least > limit_) return std::nullopt;
  for (std::int64_t i = 1; i <= kReach; ++i)
    if (at(middle - i) <= least || at(middle + i) < least) return std::nullopt;
  FoundMark found;
  found.distance = least;
  found.end.first = middle - kReach / 2;
  for (std::int64_t i = -kReach / 2; i <= kReach / 2; ++i)
    found.end.weights.push_back(std::pow(kEditOdds, at(middle + i) - least));
  return found;
}

const Bits& label_mark() {
  static const Bits mark = [] {
    std::vector<std::uint8_t> bytes(kMarkBits / 8);
    codec::CoefficientStream(kMarkSeed, 0).fill(bytes);
    return unpack(bytes);
  }();
  return mark;
}

}  // namespace firn::medium
