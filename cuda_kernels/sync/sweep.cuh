// One codeword, one symbol a lane: a row of states goes in, each symbol's lattice is walked column
// by column, and the sum over the symbols comes out as the next row. Columns go in blocks of 32;
// between blocks the lanes change sides, from a symbol each to a column each.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda_kernels/sync/column.cuh"
#include "cuda_kernels/sync/warp.cuh"

namespace firn::cuda::sync {

// The rows of all frames of the warp; frame p's begins at p * pitch. States are in order of drift,
// columns in the order of the direction.
template <typename Real>
struct SweepRows {
  const Real* in;
  const Real* in_scale;  // of each frame
  const Real* other;     // null: the other direction has not been here
  const Real* other_scale;
  Real* out;
  bool add;  // to what is in `out`
  int pitch, states, bits;
  int frames, lanes;
  bool forwards;

  // The state of a column, as the walk enters it. It leaves into the state of column - bits.
  __device__ __forceinline__ int state(int column) const {
    return forwards ? column : states - 1 - column;
  }
};

// What one lane sums up over a codeword's columns.
template <typename Real>
struct LaneSums {
  Real mass;     // of what it made
  Real overlap;  // of that, times the other direction's row: the symbol's posterior
};

template <typename Real>
__device__ __forceinline__ void stage_columns(const SweepRows<Real>& rows, int first, int lane,
                                              const Exchange<Real>& exchange) {
  const int entering = first + lane, leaving = entering - rows.bits;
  const bool enters = entering < rows.states;
  const bool leaves = leaving >= 0 && leaving < rows.states && rows.other != nullptr;
  for (int p = 0; p < rows.frames; ++p) {
    const int at = p * rows.pitch, to = p * Exchange<Real>::kPitch + lane;
    exchange.in[to] = enters ? rows.in[at + rows.state(entering)] * rows.in_scale[p] : Real{0};
    exchange.other[to] =
        leaves ? rows.other[at + rows.state(leaving)] * rows.other_scale[p] : Real{0};
  }
}

// Sums over symbols; this lane's is column first + lane.
template <typename Real>
__device__ __forceinline__ void collect_columns(const SweepRows<Real>& rows, int first, int count,
                                                int lane, const Exchange<Real>& exchange) {
  const int leaving = first + lane - rows.bits;
  if (lane >= count || leaving < 0 || leaving >= rows.states) return;
  const Real* made = exchange.out + lane * Exchange<Real>::kPitch;
  for (int p = 0; p < rows.frames; ++p) {
    Real sums[2] = {};
    for (int symbol = 0; symbol < rows.lanes; symbol += 2) {
      sums[0] += made[p * rows.lanes + symbol];
      sums[1] += made[p * rows.lanes + symbol + 1];
    }
    Real* to = rows.out + p * rows.pitch + rows.state(leaving);
    *to = sums[0] + sums[1] + (rows.add ? *to : Real{0});
  }
}

// The columns of one block. `bits` and `valid` are the received bits of this lane's frame.
template <typename Column>
__device__ __forceinline__ void walk_columns(Column& column, int count, std::uint32_t bits,
                                             std::uint32_t valid, int lane, int frame,
                                             const Exchange<typename Column::Real>& exchange,
                                             LaneSums<typename Column::Real>& sums) {
  using Real = typename Column::Real;
  constexpr int kPitch = Exchange<Real>::kPitch;
  const Real* in = exchange.in + frame * kPitch;
  const Real* other = exchange.other + frame * kPitch;
  Real* out = exchange.out + lane;
  const auto walk = [&](int k) {
    const Real made = column.advance(all_of_bit(bits, k), in[k]);
    out[k * kPitch] = made;
    sums.mass += made;
    sums.overlap += made * other[k];
  };
  const std::uint32_t all = count == kBlockColumns ? kAllLanes : (1u << count) - 1;
  if (__all_sync(kAllLanes, (valid & all) == all)) {
    // Up to three columns too many: nothing enters or leaves there.
#pragma unroll 1
    for (int first = 0; first < count; first += 4) {
#pragma unroll
      for (int k = 0; k < 4; ++k) walk(first + k);
    }
  } else {
    // At an end of the record. Outside of it nothing is received: only deletions are possible.
#pragma unroll 1
    for (int k = 0; k < count; ++k) {
      if (!(valid >> k & 1)) column.clear();
      walk(k);
    }
  }
}

// `position` is that of the received bit of column 0 for this lane's frame. All lanes take part.
template <typename Column>
__device__ __forceinline__ LaneSums<typename Column::Real> sweep(
    Column& column, const SweepRows<typename Column::Real>& rows, const ReceivedBits& received,
    int position, int lane, const Exchange<typename Column::Real>& exchange) {
  LaneSums<typename Column::Real> sums{};
  const int columns = rows.states + rows.bits, frame = lane / rows.lanes;
  for (int first = 0; first < columns; first += kBlockColumns) {
    const int count = min(kBlockColumns, columns - first);
    std::uint32_t bits, valid;
    received.window(rows.forwards ? position + first : position - first, bits, valid);
    stage_columns(rows, first, lane, exchange);
    __syncwarp();
    walk_columns(column, count, bits, valid, lane, frame, exchange, sums);
    __syncwarp();
    collect_columns(rows, first, count, lane, exchange);
  }
  __syncwarp();
  return sums;
}

}  // namespace firn::cuda::sync
