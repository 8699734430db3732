#include "codec/random.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace firn::codec {
namespace {

constexpr unsigned kRounds = 8;
constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kCounterLow = 12, kCounterHigh = 15;  // words of the state

using State = std::array<std::uint32_t, 16>;

void quarter_round(State& x, unsigned a, unsigned b, unsigned c, unsigned d) {
  x[a] += x[b], x[d] = std::rotl(x[d] ^ x[a], 16);
  x[c] += x[d], x[b] = std::rotl(x[b] ^ x[c], 12);
  x[a] += x[b], x[d] = std::rotl(x[d] ^ x[a], 8);
  x[c] += x[d], x[b] = std::rotl(x[b] ^ x[c], 7);
}

}  // namespace

std::array<std::uint8_t, 64> chacha_block(const std::array<std::uint32_t, 16>& state,
                                          unsigned rounds) {
  assert(rounds % 2 == 0);
  State x = state;
  for (unsigned round = 0; round < rounds; round += 2) {
    for (unsigned i = 0; i < 4; ++i) quarter_round(x, i, 4 + i, 8 + i, 12 + i);
    for (unsigned i = 0; i < 4; ++i) {
      quarter_round(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
    }
  }
  std::array<std::uint8_t, kBlockBytes> block;
  for (std::size_t word = 0; word < 16; ++word) {
    const std::uint32_t sum = x[word] + state[word];
    for (std::size_t byte = 0; byte < 4; ++byte) {
      block[4 * word + byte] = static_cast<std::uint8_t>(sum >> (8 * byte));
    }
  }
  return block;
}

CoefficientStream::CoefficientStream(std::uint64_t seed, std::uint64_t stream)
    : state_{0x61707865,  // "expand 32-byte k"
             0x3320646e,
             0x79622d32,
             0x6b206574,
             static_cast<std::uint32_t>(seed),
             static_cast<std::uint32_t>(seed >> 32),
             0,
             0,
             0,
             0,
             0,
             0,
             0,
             static_cast<std::uint32_t>(stream),
             static_cast<std::uint32_t>(stream >> 32),
             0},
      block_{},
      used_(kBlockBytes) {}

void CoefficientStream::seek(std::uint64_t position) {
  const std::uint64_t counter = position / kBlockBytes;
  state_[kCounterLow] = static_cast<std::uint32_t>(counter);
  state_[kCounterHigh] = static_cast<std::uint32_t>(counter >> 32);
  used_ = kBlockBytes;
  if (position % kBlockBytes != 0) {
    refill();
    used_ = position % kBlockBytes;
  }
}

void CoefficientStream::refill() {
  block_ = chacha_block(state_, kRounds);
  used_ = 0;
  if (++state_[kCounterLow] == 0) ++state_[kCounterHigh];
}

void CoefficientStream::fill(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    if (used_ == kBlockBytes) refill();
    const std::size_t bytes = std::min(out.size(), kBlockBytes - used_);
    std::copy_n(block_.begin() + static_cast<std::ptrdiff_t>(used_), bytes, out.begin());
    used_ += bytes;
    out = out.subspan(bytes);
  }
}

void CoefficientStream::fill_nonzero(std::span<std::uint8_t> out) {
  for (std::size_t i = 0; i < out.size();) {
    if (used_ == kBlockBytes) refill();
    out[i] = block_[used_++];
    if (out[i] != 0) ++i;
  }
}

std::uint64_t CoefficientStream::next_u64() {
  std::array<std::uint8_t, 8> bytes;
  if (kBlockBytes - used_ >= bytes.size()) {
    std::copy_n(block_.data() + used_, bytes.size(), bytes.data());
    used_ += bytes.size();
  } else {
    fill(bytes);
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
  return value;
}

std::uint32_t CoefficientStream::below(std::uint32_t bound) {
  assert(bound > 0);
  // There are 2^64 mod bound values too many, which would favour small results: as many of the
  // lowest are drawn again. Only a value below `bound` can be one of them, which is rare.
  for (;;) {
    const std::uint64_t value = next_u64();
    if (value >= bound || value >= (std::uint64_t{0} - bound) % bound)
      return static_cast<std::uint32_t>(value % bound);
  }
}

}  // namespace firn::codec
