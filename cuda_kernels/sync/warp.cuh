// The lanes of a warp in the production kernel, and what they share. With an alphabet of more than
// 16 symbols a warp works on one frame, a lane on a symbol; with a smaller one `lanes` lanes are a
// frame's, and the warp works on 32 / lanes frames at once (packed).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace firn::cuda::sync {

inline constexpr unsigned kAllLanes = 0xffffffff;
inline constexpr int kBlockColumns = 32;  // lattice columns between two exchanges among the lanes

// The sum over the lanes of one frame, in each of them. `lanes` is a power of two.
template <typename Real>
__device__ __forceinline__ Real sum_of_lanes(Real value, int lanes) {
  for (int step = 1; step < lanes; step *= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}

// All `threads` of one direction, a multiple of 32; barrier 0 is that of the whole block.
__device__ __forceinline__ void wait_for_direction(int direction, int threads) {
  if (threads == 32) {
    __syncwarp();
  } else if (direction == 0) {
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
  } else {
    asm volatile("bar.sync 2, %0;" ::"r"(threads) : "memory");
  }
}

// A warp's shared memory: what lanes hand to one another for a block of columns. Rows are 33 long,
// so that reading a column meets no bank twice.
template <typename Real>
struct Exchange {
  static constexpr int kPitch = kBlockColumns + 1;

  Real* out;    // 32 columns, of each what every lane made
  Real* in;     // of each frame: what the columns begin with
  Real* other;  // of each frame: the row that the other direction has at the columns' end

  static constexpr int reals(int frames) { return (32 + 2 * frames) * kPitch; }
  __device__ __forceinline__ Exchange(Real* memory, int frames)
      : out(memory), in(memory + 32 * kPitch), other(in + frames * kPitch) {}
};

// Received bits as columns meet them: bit k of a window is that of column first + k, in the order
// of the direction. Packed words, 32 bits each, bit 0 first.
class ReceivedBits {
 public:
  // `count` bits stand in `words`.
  __device__ __forceinline__ ReceivedBits(const std::uint32_t* words, int count, bool forwards)
      : words_(words), count_(count), forwards_(forwards) {}

  // Bit k is that of position + k, or backwards of position - k. Bits outside of the record are 0
  // in both masks.
  __device__ __forceinline__ void window(int position, std::uint32_t& bits,
                                         std::uint32_t& valid) const {
    const int low = forwards_ ? position : position - 31;
    const int word = low >> 5;
    bits = __funnelshift_r(load(word), load(word + 1), low & 31);
    valid = below(count_ - low) & ~below(-low);
    bits &= valid;
    if (!forwards_) bits = __brev(bits), valid = __brev(valid);
  }

 private:
  // Ones below a position.
  __device__ __forceinline__ static std::uint32_t below(int position) {
    return position >= 32 ? 0xffffffffu : position <= 0 ? 0u : (1u << position) - 1;
  }
  __device__ __forceinline__ std::uint32_t load(int word) const {
    return word >= 0 && word * 32 < count_ ? words_[word] : 0;
  }

  const std::uint32_t* words_;
  int count_;
  bool forwards_;
};

}  // namespace firn::cuda::sync
