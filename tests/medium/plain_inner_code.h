// An inner code that writes bytes as they are and expects every bit in its place: for tests of what
// stands above it.
#pragma once

#include "client/medium/inner_code.h"
#include "codec/random.h"

namespace firn::medium {

class PlainInnerCode : public InnerCode {
 public:
  explicit PlainInnerCode(std::size_t word_bytes) : word_bytes_(word_bytes) {
    std::vector<std::uint8_t> bytes(16);
    codec::CoefficientStream(77, word_bytes).fill(bytes);
    mark_ = unpack(bytes);
  }
  std::size_t word_bytes() const override { return word_bytes_; }
  std::size_t word_bits() const override { return 8 * word_bytes_; }
  const Bits& mark() const override { return mark_; }
  Bits encode(std::span<const std::uint8_t> word) const override { return unpack(word); }
  std::size_t bits_before() const override { return 0; }
  std::size_t bits_behind() const override { return word_bits(); }
  WordReading read(const Window& window, const Boundary& start) const override {
    WordReading reading;
    const std::int64_t begin = start.bit();
    const std::int64_t end = begin + static_cast<std::int64_t>(word_bits());
    if (begin < window.first || end > window.end()) return reading;
    BitPacker packer;
    packer.put(window.bits.subspan(static_cast<std::size_t>(begin - window.first), word_bits()));
    reading.found = true;
    reading.word = packer.take();
    reading.certainty.assign(word_bytes_, 1.0f);
    reading.end = {end, {1.0}};
    return reading;
  }

 private:
  std::size_t word_bytes_;
  Bits mark_;
};

}  // namespace firn::medium
