// What stands between a word's bytes and the medium's bits: it corrects what the channel did to
// their number and order, and leaves wrong bytes to Reed-Solomon. SyncInnerCode is the one of
// media; tests put others behind the same interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "client/medium/bits.h"

namespace firn::medium {

struct WordReading {
  bool found = false;  // false: the bits fit no word that starts near the boundary; rest undefined
  std::vector<std::uint8_t> word;
  std::vector<float> certainty;  // of each byte: the probability that it is right
  Boundary end;                  // where the next word starts
  double log_likelihood = 0;     // of the bits, for comparing channels; 0 if the code has none
};

// Const members may be called from any thread.
class InnerCode {
 public:
  virtual ~InnerCode() = default;

  virtual std::size_t word_bytes() const = 0;
  // Bits of a word as it is written.
  virtual std::size_t word_bits() const = 0;
  // The bits by which a group begins, and which follow its last word; kMarkBits or somewhat fewer.
  virtual const Bits& mark() const = 0;
  virtual Bits encode(std::span<const std::uint8_t> word) const = 0;

  // Bits that read() may look at before and behind the likeliest start of a word; it takes a window
  // that has fewer.
  virtual std::size_t bits_before() const = 0;
  virtual std::size_t bits_behind() const = 0;
  virtual WordReading read(const Window& window, const Boundary& start) const = 0;
};

}  // namespace firn::medium
