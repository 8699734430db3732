// Where a block of threads keeps a frame (or as many frames as a warp holds) while it decodes them:
// rows of states, their scales, the received bits. All of it is in the workspace, so that there is
// no limit on the number of states. A row is kept as it came, beside the power of two that scales
// it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/sync/job.h"

namespace firn::cuda::sync {

// Sums of rows, and the least sum of a symbol's posteriors that is trusted. In float rows are
// scaled to sums of 2^56 and a little more: nothing overflows below 2^114, and what is lost below
// 2^-149 of a row is below 2^-85 of posteriors that add up to 2^-62 or more.
template <typename Real>
struct Range;
template <>
struct Range<float> {
  static constexpr int kTop = 56, kUpMost = 120;  // exponents of 2
  static constexpr float kTrusted = 0x1p-62f;
};
template <>
struct Range<double> {
  static constexpr int kTop = 0, kUpMost = 1000;
  static constexpr double kTrusted = 1e-280;
};

// How far to scale a row of this sum.
template <typename Real>
__device__ __forceinline__ int scaling_exponent(Real sum) {
  return sum > 0 ? min(Range<Real>::kTop - ilogb(sum), Range<Real>::kUpMost) : 0;
}

// Boundaries are counted as a direction meets them, t = 0..N; direction 0 is forwards.
template <typename Real>
class Slot {
 public:
  __device__ __forceinline__ Slot(const Job& job, std::uint8_t* memory)
      : frames_(job.division.frames_per_block()),
        pitch_(job.division.row_pitch),
        length_(job.length),
        middle_(job.length / 2),
        warps_(job.division.warps),
        bit_words_(job.division.bit_words),
        rows_(reinterpret_cast<Real*>(memory)) {}

  // The row at the direction's boundary t = 0..N; those beyond the middle take turns.
  __device__ __forceinline__ Real* row(int direction, int t) const {
    return rows_ + static_cast<std::size_t>(row_index(direction, t)) * frames_ * pitch_;
  }
  __device__ __forceinline__ Real* scale(int direction, int t) const {
    return scales() + row_index(direction, t) * frames_;
  }
  // What one warp adds to a row, if several do.
  __device__ __forceinline__ Real* part(int direction, int warp) const {
    return rows_ +
           static_cast<std::size_t>(row_count() * frames_ + direction * warps_ + warp) * pitch_;
  }
  __device__ __forceinline__ std::uint32_t* bits(int frame) const {
    return reinterpret_cast<std::uint32_t*>(scales() + row_count() * frames_) + frame * bit_words_;
  }
  // The last boundary whose row is kept.
  __device__ __forceinline__ int kept(int direction) const {
    return direction == 0 ? middle_ : length_ - middle_;
  }

 private:
  __device__ __forceinline__ int row_count() const { return length_ + 2 + 4; }
  __device__ __forceinline__ int row_index(int direction, int t) const {
    const int first = direction == 0 ? 0 : middle_ + 1;
    return t <= kept(direction) ? first + t : length_ + 2 + 2 * direction + (t & 1);
  }
  __device__ __forceinline__ Real* scales() const {
    const int parts = warps_ > 1 ? 2 * warps_ : 0;
    return rows_ + static_cast<std::size_t>(row_count() * frames_ + parts) * pitch_;
  }

  int frames_, pitch_, length_, middle_, warps_, bit_words_;
  Real* rows_;
};

}  // namespace firn::cuda::sync
