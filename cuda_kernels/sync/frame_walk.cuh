// A frame in a block of threads (or as many frames as a warp holds): half of the warps go forwards,
// half backwards, from the ends to the middle h = N / 2 and on to the other ends.
//
//   forwards   boundary 0, 1, .. h, then .. N     rows 0..h are kept
//   backwards  boundary N, .. h, then .. 0        rows N..h are kept
//
// Beyond the middle a direction multiplies what leaves a codeword, symbol by symbol, with the other
// direction's row there: the symbol's posterior.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/sync/job.h"
#include "cuda_kernels/sync/slot.cuh"
#include "cuda_kernels/sync/sweep.cuh"

namespace firn::cuda::sync {

// One thread's part in it. All threads of the block make every call.
template <typename Column>
class FrameWalk {
 public:
  using Real = typename Column::Real;

  // `group` counts the frames, or groups of frames of a warp, of the launch; `frames` is how many
  // frames the launch has, those of `chosen` if that is not null.
  __device__ __forceinline__ FrameWalk(const Job& job, const int* chosen, int frames, int group,
                                       Real* shared)
      : job_(job),
        slot_(job, job.workspace + blockIdx.x * job.division.slot_bytes),
        lane_(threadIdx.x % 32),
        warp_(threadIdx.x / 32 % job.division.warps),
        direction_(threadIdx.x / 32 / job.division.warps),
        lanes_(job.division.lanes),
        group_(group),
        frames_(frames),
        chosen_(chosen),
        sums_(shared),
        exchange_(shared + shared_sums(job.division) +
                      threadIdx.x / 32 * Exchange<Real>::reals(32 / lanes_),
                  32 / lanes_),
        nodes_(shared + shared_sums(job.division) +
               job.division.threads() / 32 * Exchange<Real>::reals(32 / lanes_) + threadIdx.x),
        frame_(frame_of(lane_ / lanes_)) {}

  __device__ void run() {
    pack_bits();
    begin_row();
    __syncthreads();
    for (int t = 0; t < slot_.kept(direction_); ++t) step<false>(t);
    __syncthreads();
    if (warp_ == 0 && direction_ == 0) write_boundary(slot_.kept(0), slot_.kept(0));
    for (int t = slot_.kept(direction_); t < job_.length; ++t) step<true>(t);
    __syncthreads();
    if (threadIdx.x < 32) report();
    __syncthreads();
  }

  // Shared memory for sums over warps: of each direction, twice in turn, two for each warp and lane
  // group.
  static constexpr int shared_sums(const Division& division) { return 2 * 2 * 2 * division.warps; }

 private:
  __device__ __forceinline__ bool forwards() const { return direction_ == 0; }
  __device__ __forceinline__ int count() const { return 32 / lanes_; }
  // The frame that stands p-th in the group, or -1.
  __device__ __forceinline__ int frame_of(int p) const {
    const int at = group_ * (32 / lanes_) + p;
    return at >= frames_ ? -1 : chosen_ == nullptr ? at : chosen_[at];
  }
  __device__ __forceinline__ int bit_count(int frame) const {
    return frame < 0 ? 0 : job_.in.received_bits[frame];
  }
  __device__ __forceinline__ int origin(int frame) const {
    return frame < 0 ? 0 : job_.in.origins[frame];
  }

  __device__ void pack_bits();
  __device__ void begin_row();
  template <bool kMet>
  __device__ void step(int t);
  __device__ __forceinline__ SweepRows<Real> rows_of(int t, bool met) const;
  __device__ __forceinline__ void begin_codeword(Column& column, int i, int symbol) const;
  __device__ void add_over_direction(LaneSums<Real>& sums, int t);
  __device__ void merge_parts(int t);
  __device__ __forceinline__ std::size_t place(int i, int symbol) const {
    return (static_cast<std::size_t>(frame_) * job_.length + i) * job_.q + symbol;
  }
  __device__ __forceinline__ int symbol_of(int round) const {
    return (round * job_.division.warps + warp_) * 32 + lane_ % lanes_;
  }
  __device__ __forceinline__ void write_posteriors(int i, const LaneSums<Real>& total, Real own);
  __device__ void write_boundary(int boundary, int t);
  __device__ void report() const;

  const Job& job_;
  Slot<Real> slot_;
  int lane_, warp_, direction_, lanes_, group_, frames_;
  const int* chosen_;
  Real* sums_;
  Exchange<Real> exchange_;
  Real* nodes_;
  int frame_;         // of this lane, or -1
  int exponent_ = 0;  // of 2: how far the direction's last row is scaled up, all in all
};

template <typename Column>
__device__ void FrameWalk<Column>::pack_bits() {
  const int warps = blockDim.x / 32, mine = threadIdx.x / 32;
  for (int p = 0; p < count(); ++p) {
    const int frame = frame_of(p), bits = bit_count(frame);
    const std::uint8_t* from = job_.in.received + (frame < 0 ? 0 : frame) * job_.in.received_pitch;
    for (int word = mine; word * 32 < bits; word += warps) {
      const int at = word * 32 + lane_;
      const unsigned packed = __ballot_sync(kAllLanes, at < bits && from[at] != 0);
      if (lane_ == 0) slot_.bits(p)[word] = packed;
    }
  }
  if (threadIdx.x < 32 && frame_ >= 0 && lane_ % lanes_ == 0) job_.out.lost[frame_] = 0;
}

template <typename Column>
__device__ void FrameWalk<Column>::begin_row() {
  const double* weights = forwards() ? job_.in.start : job_.in.end;
  for (int p = 0; p < count(); ++p) {
    const int frame = frame_of(p);
    for (int s = warp_ * 32 + lane_; s < job_.states; s += job_.division.warps * 32) {
      slot_.row(direction_, 0)[p * job_.division.row_pitch + s] =
          frame < 0 ? Real{0}
                    : static_cast<Real>(weights[static_cast<std::size_t>(frame) * job_.states + s]);
    }
    slot_.scale(direction_, 0)[p] = ldexp(Real{1}, Range<Real>::kTop);
  }
  exponent_ = Range<Real>::kTop;
}

// The sums of the frame's lanes in all warps of the direction.
template <typename Column>
__device__ void FrameWalk<Column>::add_over_direction(LaneSums<Real>& sums, int t) {
  sums.mass = sum_of_lanes(sums.mass, lanes_);
  sums.overlap = sum_of_lanes(sums.overlap, lanes_);
  const int warps = job_.division.warps;
  if (warps == 1) return;
  Real* all = sums_ + (direction_ * 2 + (t & 1)) * 2 * warps;
  if (lane_ == 0) all[2 * warp_] = sums.mass, all[2 * warp_ + 1] = sums.overlap;
  wait_for_direction(direction_, warps * 32);
  sums = {};
  for (int w = 0; w < warps; ++w) sums.mass += all[2 * w], sums.overlap += all[2 * w + 1];
}

// The row at boundary t + 1 from those of the warps. The next codeword begins when all have done
// it.
template <typename Column>
__device__ void FrameWalk<Column>::merge_parts(int t) {
  const int warps = job_.division.warps;
  if (warps == 1) return;
  Real* row = slot_.row(direction_, t + 1);
  for (int s = warp_ * 32 + lane_; s < job_.states; s += warps * 32) {
    Real sum = 0;
    for (int w = 0; w < warps; ++w) sum += slot_.part(direction_, w)[s];
    row[s] = sum;
  }
}

template <typename Column>
__device__ __forceinline__ SweepRows<typename Column::Real> FrameWalk<Column>::rows_of(
    int t, bool met) const {
  const int opposite = job_.length - 1 - t;
  const bool parts = job_.division.warps > 1;
  return {slot_.row(direction_, t),
          slot_.scale(direction_, t),
          met ? slot_.row(1 - direction_, opposite) : nullptr,
          slot_.scale(1 - direction_, met ? opposite : 0),
          parts ? slot_.part(direction_, warp_) : slot_.row(direction_, t + 1),
          false,
          job_.division.row_pitch,
          job_.states,
          job_.n,
          count(),
          lanes_,
          forwards()};
}

template <typename Column>
__device__ __forceinline__ void FrameWalk<Column>::begin_codeword(Column& column, int i,
                                                                  int symbol) const {
  Real weight = 0;
  std::uint32_t word = 0;
  if (symbol < job_.q && frame_ >= 0) {
    word = job_.in.codebooks[static_cast<std::size_t>(i % job_.books) * job_.q + symbol];
    weight = job_.in.priors == nullptr ? Real{1} / job_.q
                                       : static_cast<Real>(job_.in.priors[place(i, symbol)]);
  }
  column.begin(forwards() ? word : __brev(word) >> (32 - job_.n), weight);
}

// From boundary t to t + 1 of the direction. kMet: beyond the middle.
template <typename Column>
template <bool kMet>
__device__ void FrameWalk<Column>::step(int t) {
  const int i = forwards() ? t : job_.length - 1 - t;
  const int position = origin(frame_) + job_.drift_low +
                       (forwards() ? job_.n * i - 1 : job_.n * (i + 1) + job_.states - 1);
  const ReceivedBits received(slot_.bits(lane_ / lanes_), bit_count(frame_), forwards());
  SweepRows<Real> rows = rows_of(t, kMet);
  Column column(coefficients_of<Real>(job_, forwards()), job_.n, nodes_, blockDim.x);
  LaneSums<Real> total{};
  Real own = 0;
  for (int round = 0; round < job_.division.rounds; ++round) {
    begin_codeword(column, i, symbol_of(round));
    rows.add = round > 0;
    const LaneSums<Real> sums = sweep(column, rows, received, position, lane_, exchange_);
    total.mass += sums.mass;
    total.overlap += sums.overlap;
    own = sums.overlap;
    if (kMet && job_.division.rounds > 1 && symbol_of(round) < job_.q && frame_ >= 0) {
      store_posterior(job_, place(i, symbol_of(round)), own);
    }
  }
  add_over_direction(total, t);
  merge_parts(t);
  const int exponent = scaling_exponent(total.mass);
  exponent_ += exponent;
  if (warp_ == 0 && lane_ % lanes_ == 0) {
    slot_.scale(direction_, t + 1)[lane_ / lanes_] = ldexp(Real{1}, exponent);
  }
  if (kMet) write_posteriors(i, total, own);
  wait_for_direction(direction_, job_.division.warps * 32);
  if (kMet && warp_ == 0) write_boundary(forwards() ? t + 1 : job_.length - 1 - t, t + 1);
}

}  // namespace firn::cuda::sync

#include "cuda_kernels/sync/frame_results.cuh"  // the rest of the class
