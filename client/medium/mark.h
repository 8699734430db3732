// Marks: bit patterns by which a reader finds groups and labels on a medium, wherever it begins. A
// mark is found where the edit distance (bits lost, gained or flipped) between the pattern and the
// bits that end at a place is small (G. Myers, A fast bit-vector algorithm for approximate string
// matching, JACM 46, 1999).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client/medium/bits.h"

namespace firn::medium {

inline constexpr std::size_t kMarkBits = 128;  // at most, and of a label's mark

struct FoundMark {
  Boundary end;           // where what follows begins
  unsigned distance = 0;  // edits
};

// Takes the bits of a medium in order. One thread at a time.
class MarkFinder {
 public:
  // pattern: 1 to kMarkBits bits. Edits of up to `share` of them are put up with.
  explicit MarkFinder(std::span<const std::uint8_t> pattern, double share = kShare);

  // The mark that ends at a place kReach bits back, if one does; a mark is told once. Call as often
  // as there are bits, and kReach times more with any bits.
  std::optional<FoundMark> next(std::uint8_t bit);

  // Random bits come as near as this about once in 2 x 10^7 places; a medium of 3 % insertions and
  // 3 % deletions keeps 4 standard deviations off. A mark that is none costs the decoding of two
  // frames.
  static constexpr double kShare = 0.16;
  static constexpr std::int64_t kReach = 16;

 private:
  __extension__ typedef unsigned __int128 Word;

  unsigned score(std::uint8_t bit);

  Word positions_[2] = {};  // of the pattern's zeros and ones
  Word top_;                // the pattern's last bit
  Word plus_, minus_ = 0;   // where the column's differences are +1 and -1
  unsigned score_, limit_;
  std::int64_t place_ = 0;                       // bits taken
  std::array<unsigned, 2 * kReach + 1> scores_;  // of the last places, in a ring
};

// The mark of labels.
const Bits& label_mark();

}  // namespace firn::medium
