// What a frame's walk writes: posteriors of symbols and of boundary drifts, the likelihood, and
// whether the frame lost its mass. Included by frame_walk.cuh, whose class this completes.
#pragma once

#include "cuda_kernels/sync/frame_walk.cuh"

namespace firn::cuda::sync {

template <typename Real>
__device__ __forceinline__ void store_posterior(const Job& job, std::size_t at, Real value) {
  if (job.out.exact_posteriors != nullptr) {
    job.out.exact_posteriors[at] = static_cast<double>(value);
  } else {
    job.out.posteriors[at] = static_cast<float>(value);
  }
}

template <typename Real>
__device__ __forceinline__ Real stored_posterior(const Job& job, std::size_t at) {
  return job.out.exact_posteriors != nullptr ? static_cast<Real>(job.out.exact_posteriors[at])
                                             : static_cast<Real>(job.out.posteriors[at]);
}

// What this thread has of the sums over all symbols, divided by that. `own` is that of its symbol
// where it has one; of several, they stand where they belong.
template <typename Column>
__device__ __forceinline__ void FrameWalk<Column>::write_posteriors(int i,
                                                                    const LaneSums<Real>& total,
                                                                    Real own) {
  if (frame_ < 0) return;
  const bool trusted = total.overlap >= Range<Real>::kTrusted;  // false for what is no number, too
  if (!trusted) job_.out.lost[frame_] = 1;
  const Real scale = trusted ? Real{1} / total.overlap : Real{0};
  const bool stored = job_.division.rounds > 1;
  for (int round = 0; round < job_.division.rounds; ++round) {
    const int symbol = symbol_of(round);
    if (symbol >= job_.q) continue;
    const std::size_t at = place(i, symbol);
    store_posterior(job_, at, (stored ? stored_posterior<Real>(job_, at) : own) * scale);
  }
}

// lambda(m) = alpha(m) beta(m) where it is asked for; t is the direction's own count of the
// boundary. One warp of the direction makes the call, when both rows are there.
template <typename Column>
__device__ void FrameWalk<Column>::write_boundary(int boundary, int t) {
  const int pitch = job_.division.row_pitch;
  for (int p = 0; p < count(); ++p) {
    const int frame = frame_of(p);
    if (frame < 0) continue;
    const int end = job_.in.end_boundaries[frame];
    const bool start_wanted = boundary == 0;
    const bool end_wanted = boundary == end;
    const bool last = t == job_.length && forwards();
    if (!start_wanted && !end_wanted && !last) continue;
    const Real* own = slot_.row(direction_, t) + p * pitch;
    const Real* other = slot_.row(1 - direction_, job_.length - t) + p * pitch;
    const Real scale = slot_.scale(direction_, t)[p];
    double* to = job_.out.boundaries + static_cast<std::size_t>(frame) * 2 * job_.states;
    Real sum = 0;
    for (int s = lane_; s < job_.states; s += 32) {
      const Real both = own[s] * scale * other[s];
      sum += both;
      if (start_wanted) to[s] = static_cast<double>(both);
      if (end_wanted) to[job_.states + s] = static_cast<double>(both);
    }
    sum = sum_of_lanes(sum, 32);
    const int exponent = __shfl_sync(kAllLanes, exponent_, p * lanes_);
    if (last && lane_ == 0) {
      constexpr double kLn2 = 0.693147180559945309;
      job_.out.log_likelihoods[frame] = log(static_cast<double>(sum)) - exponent * kLn2;
    }
  }
}

template <typename Column>
__device__ void FrameWalk<Column>::report() const {
  if (sizeof(Real) != sizeof(float) || frame_ < 0 || lane_ % lanes_ != 0) return;
  if (job_.out.redo != nullptr && job_.out.lost[frame_])
    job_.out.redo[atomicAdd(job_.out.redo_count, 1)] = frame_;
}

}  // namespace firn::cuda::sync
