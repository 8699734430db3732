// One column of a codeword's lattice, for one symbol, in one thread.
//
// The lattice of Briffa 2014 (eq. 7 to 10) is linear in its first row, so it starts from all drifts
// at once: column j takes the weight `in` of "the codeword begins after j received bits" into its
// first node, and gives that of "it ends there" from its last. In between, with Q(y_j|x_r) for a
// transmission, P_d for a deletion (within the column) and P_i / 2 for an insertion (along the
// row),
//
//   F[r] = Q(y_j|x_r) F'[r-1] + P_d F[r-1] + P_i/2 F'[r]        F' is the column before
//
// for r = 1..n. Forwards the last row has no insertion, as no channel inserts after the last bit;
// backwards, where rows and bits are walked in reverse, the first has none. A symbol's prior weighs
// the transitions into the last row.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda_kernels/sync/job.h"

namespace firn::cuda::sync {

// Ones in all places if bit k of a word is one. By shifts: of a comparison the compiler would make
// selections, where the one instruction that masks is enough.
__device__ __forceinline__ std::uint32_t all_of_bit(std::uint32_t word, int k) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(word << (31 - k)) >> 31);
}

__device__ __forceinline__ std::uint32_t bits_of(float value) {
  return __float_as_uint(value);
}
__device__ __forceinline__ float real_of(std::uint32_t bits) {
  return __uint_as_float(bits);
}

// Rows of a register column are scaled by 1 / Q(y|y) each, so that a bit that was received as it
// was sent costs no multiplication; the symbol's weight makes up for it.
template <typename Real>
struct Coefficients {
  Real insertion, deletion, match, mismatch;
  Real match_power;                      // match^n
  Real insertion_first, insertion_last;  // of the first and the last row
};

template <typename Real>
__device__ __forceinline__ Coefficients<Real> coefficients_of(const Job& job, bool forwards) {
  const Real insertion = static_cast<Real>(job.insertion_half);
  return {insertion,
          static_cast<Real>(job.deletion),
          static_cast<Real>(job.match),
          static_cast<Real>(job.mismatch),
          static_cast<Real>(job.match_power),
          forwards ? insertion : Real{0},
          forwards ? Real{0} : insertion};
}

// In registers, float: n + 1 nodes, and a mask for each bit of the codeword. kFlips: the channel
// flips bits, Q(y|x) > 0 for y other than x; without, a bit that differs ends all paths.
template <int kBits, bool kFlips>
class RegisterColumn {
 public:
  using Real = float;

  __device__ __forceinline__ RegisterColumn(const Coefficients<Real>& c, int, Real*, int)
      : insertion_(c.insertion),
        insertion_first_(c.insertion_first),
        insertion_last_(c.insertion_last),
        deletion_(c.deletion / c.match),
        match_power_(c.match_power),
        flip_(bits_of(c.mismatch / c.match)) {}

  // A new codeword: bit r of `word` is that of row r + 1.
  __device__ __forceinline__ void begin(std::uint32_t word, Real weight) {
#pragma unroll
    for (int r = 0; r < kBits; ++r) {
      masks_[r] = ~all_of_bit(word, r) & (kFlips ? flip_ ^ kUnity : kOnes);
    }
    weight_ = weight * match_power_;
    deletion_last_ = deletion_ * weight_;
    clear();
  }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int r = 0; r <= kBits; ++r) nodes_[r] = 0;
  }

  // The next column, of a received bit in all places. First what comes from the column before, from
  // the last row up, so that nothing is overwritten before it is read; then deletions, from the
  // first row down.
  __device__ __forceinline__ Real advance(std::uint32_t bit, Real in) {
    // Without flips a mask of ones keeps what is transmitted. With flips it is the difference, bit
    // by bit, between the coefficients of equal bits and of others.
    const std::uint32_t received = kFlips ? flip_ ^ (bit & (flip_ ^ kUnity)) : bit;
    nodes_[kBits] = weight_ * transmitted(kBits - 1, received) + insertion_last_ * nodes_[kBits];
#pragma unroll
    for (int r = kBits - 1; r >= 1; --r) {
      nodes_[r] = transmitted(r - 1, received) + insertion_ * nodes_[r];
    }
    nodes_[0] = insertion_first_ * nodes_[0] + in;
#pragma unroll
    for (int r = 1; r < kBits; ++r) nodes_[r] += deletion_ * nodes_[r - 1];
    nodes_[kBits] += deletion_last_ * nodes_[kBits - 1];
    return nodes_[kBits];
  }

 private:
  static constexpr std::uint32_t kOnes = 0xffffffff, kUnity = 0x3f800000;  // 1.0f

  // Q(y|x) F'[r], of the scaled rows.
  __device__ __forceinline__ Real transmitted(int r, std::uint32_t received) const {
    if (kFlips) return real_of(received ^ masks_[r]) * nodes_[r];
    return real_of(bits_of(nodes_[r]) & (received ^ masks_[r]));
  }

  Real insertion_, insertion_first_, insertion_last_, deletion_, match_power_;
  std::uint32_t flip_;
  Real weight_, deletion_last_;
  Real nodes_[kBits + 1];
  std::uint32_t masks_[kBits];
};

// In shared memory, for any number of bits: node r of this thread stands at nodes[r * pitch].
template <typename RealType>
class SharedColumn {
 public:
  using Real = RealType;

  __device__ __forceinline__ SharedColumn(const Coefficients<Real>& c, int bits, Real* nodes,
                                          int pitch)
      : c_(c), bits_(bits), pitch_(pitch), nodes_(nodes) {}

  __device__ __forceinline__ void begin(std::uint32_t word, Real weight) {
    word_ = word;
    weight_ = weight;
    clear();
  }

  __device__ __forceinline__ void clear() {
    for (int r = 0; r <= bits_; ++r) nodes_[r * pitch_] = 0;
  }

  __device__ __forceinline__ Real advance(std::uint32_t bit, Real in) {
    const std::uint32_t equal = ~(word_ ^ bit);
    Real before = nodes_[0];  // of the row above, in the column before
    Real above = c_.insertion_first * before + in;
    nodes_[0] = above;
    for (int r = 1; r < bits_; ++r) {
      const Real node = nodes_[r * pitch_];
      const Real transmission = equal >> (r - 1) & 1 ? c_.match : c_.mismatch;
      above = transmission * before + c_.insertion * node + c_.deletion * above;
      nodes_[r * pitch_] = above;
      before = node;
    }
    const Real node = nodes_[bits_ * pitch_];
    const Real transmission = equal >> (bits_ - 1) & 1 ? c_.match : c_.mismatch;
    above = (transmission * before + c_.deletion * above) * weight_ + c_.insertion_last * node;
    nodes_[bits_ * pitch_] = above;
    return above;
  }

 private:
  Coefficients<Real> c_;
  int bits_, pitch_;
  std::uint32_t word_ = 0;
  Real weight_ = 1;
  Real* nodes_;
};

}  // namespace firn::cuda::sync
