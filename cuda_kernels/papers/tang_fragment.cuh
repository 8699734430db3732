// Tang, 3.2: products of data fragments of 1, 2 or 4 bytes by direct multiplication instead of
// tables.
//
// The paper multiplies "two data of 2 bytes, whose result is in the valid range" of a 32-bit core
// and says that precision is lost beyond 2 bytes; that is arithmetic of integers (its section 4.2
// even names __fmul and __fadd), which no decoder over GF(2^8) could undo. It is read here as
// follows. A coefficient is one byte of GF(2^8) and multiplies every byte of the fragment. The
// polynomial product of two bytes has 15 bits, so the products of a fragment of 2 bytes, before
// they are reduced, fill one 32-bit register exactly, a fragment of 1 byte leaves half of it empty
// and one of 4 bytes needs two. Sums are kept unreduced and brought back to bytes once, after the
// last of the n products. The multiplier that the paper wants used multiplies by one bit of the
// coefficient at a time.
#pragma once

#include <cstdint>

namespace firn::cuda::papers {

// sum ^= spread * c as polynomials, in two lanes of 16 bits; spread has a byte in each.
__device__ __forceinline__ void add_polynomial_product(std::uint32_t& sum, std::uint32_t spread,
                                                       std::uint32_t c) {
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) sum ^= spread * (c & 1u << bit);
}

// Each lane modulo x^8 + x^4 + x^3 + x^2 + 1: x^8 is 0x1d, twice.
__device__ __forceinline__ std::uint32_t reduce_lanes(std::uint32_t sum) {
#pragma unroll
  for (int round = 0; round < 2; ++round) {
    const std::uint32_t high = sum >> 8 & 0x00ff00ffu;
    sum = (sum & 0x00ff00ffu) ^ high ^ high << 2 ^ high << 3 ^ high << 4;
  }
  return sum;
}

struct Fragment1 {
  using Data = std::uint8_t;
  std::uint32_t sum = 0;
  __device__ __forceinline__ void add(Data data, std::uint32_t c) {
    add_polynomial_product(sum, data, c);
  }
  __device__ __forceinline__ Data result() const { return static_cast<Data>(reduce_lanes(sum)); }
};

struct Fragment2 {
  using Data = std::uint16_t;
  std::uint32_t sum = 0;
  __device__ __forceinline__ void add(Data data, std::uint32_t c) {
    const std::uint32_t both = data;
    add_polynomial_product(sum, (both & 0xff) | (both & 0xff00) << 8, c);
  }
  __device__ __forceinline__ Data result() const {
    const std::uint32_t lanes = reduce_lanes(sum);
    return static_cast<Data>((lanes & 0xff) | lanes >> 8);
  }
};

struct Fragment4 {
  using Data = std::uint32_t;
  std::uint32_t even = 0, odd = 0;
  __device__ __forceinline__ void add(Data data, std::uint32_t c) {
    add_polynomial_product(even, data & 0x00ff00ffu, c);
    add_polynomial_product(odd, data >> 8 & 0x00ff00ffu, c);
  }
  __device__ __forceinline__ Data result() const {
    return reduce_lanes(even) | reduce_lanes(odd) << 8;
  }
};

}  // namespace firn::cuda::papers
