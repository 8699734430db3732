// Coefficients from a counter-based generator (ChaCha, 8 rounds, RFC 8439's state layout): the same
// key and stream give the same bytes on every machine, CPU or GPU, from any position. Never a
// GF(2)-linear generator: those were seen to leave generations undecodable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace firn::codec {

// One 64-byte block of ChaCha's key stream: `rounds` rounds over `state`, plus `state`, written
// little-endian (RFC 8439, 2.3; ChaCha20 has 20 rounds). rounds is even.
std::array<std::uint8_t, 64> chacha_block(const std::array<std::uint32_t, 16>& state,
                                          unsigned rounds);

// The state's sixteen words: the four constants, the key (seed low, seed high, then zeros), the
// block counter, the nonce (stream low, stream high, block counter's high word).
// Not for secrets: the seed has 64 bits. One thread at a time.
class CoefficientStream {
 public:
  // `stream` selects one of 2^64 independent sequences under the 64-bit `seed`.
  CoefficientStream(std::uint64_t seed, std::uint64_t stream);

  // Goes to the byte at `position` of the sequence: what follows is as if that many bytes had been
  // filled since the start.
  void seek(std::uint64_t position);

  // Fills with uniform bytes 0..255.
  void fill(std::span<std::uint8_t> out);
  // Fills with uniform bytes 1..255: the sequence without its zeros.
  void fill_nonzero(std::span<std::uint8_t> out);
  // The next eight bytes, little-endian.
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
