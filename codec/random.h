// Coefficients from a counter-based generator (ChaCha, 8 rounds, RFC 8439's state layout): the same
// key and stream give the same bytes on every machine, CPU or GPU, from any position. Never a
// GF(2)-linear generator: those were seen to leave generations undecodable.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace firn::codec {

class CoefficientStream {
 public:
  // `stream` selects one of 2^64 independent sequences under the 64-bit `seed`.
  CoefficientStream(std::uint64_t seed, std::uint64_t stream);

  // Fills with uniform bytes 0..255.
  void fill(std::span<std::uint8_t> out);
  // Fills with uniform bytes 1..255.
  void fill_nonzero(std::span<std::uint8_t> out);
  std::uint64_t next_u64();
  // Uniform in 0..bound-1; bound > 0.
  std::uint32_t below(std::uint32_t bound);

 private:
  void refill();
  std::array<std::uint32_t, 16> state_;
  std::array<std::uint8_t, 64> block_;
  std::size_t used_;
};

}  // namespace firn::codec
