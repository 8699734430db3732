// Briffa 2014, IV-A.1 and V: the gamma metric, the only kernel with a lattice. A thread holds one
// symbol D and one drift m' before the codeword, and computes the receiver metric for all drifts m
// behind it at once, inside of the corridor m_n- <= j - r <= m_n+. It keeps the lattice row that it
// is at in shared memory, n + m_n+ + 1 floats.
#include <cuda_runtime.h>

#include "cuda_kernels/papers/briffa_launch.h"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

// A thread's lattice row: element j stands a block's threads from element j + 1.
struct LatticeRow {
  float* first;
  int pitch;

  __device__ __forceinline__ float& operator[](int j) const { return first[j * pitch]; }
};

// Row r from row r - 1, in place (eq. 7; the last by eq. 10). `position` is that of the segment in
// the record.
__device__ __forceinline__ void next_row(const BriffaFrame& frame, const LatticeRow& row, int r,
                                         bool bit, int position) {
  const int high = frame.codeword_low + frame.changes - 1;
  const int first = max(0, r + frame.codeword_low), last = r + high;
  const float insertion = r < frame.n ? frame.insertion_half : 0;
  float diagonal = first > 0 ? row[first - 1] : 0, left = 0;
  for (int j = first; j <= last; ++j) {
    const float above = j < last ? row[j] : 0;
    const int at = position + j - 1;
    float node = frame.deletion * above;
    if (j > 0 && at < frame.received_bits) {
      const bool equal = (frame.received[at] != 0) == bit;
      node += (equal ? frame.match : frame.mismatch) * diagonal + insertion * left;
    }
    row[j] = node;
    diagonal = above;
    left = node;
  }
}

__device__ __forceinline__ void compute_metrics(const BriffaFrame& frame, const LatticeRow& row,
                                                std::uint32_t word, int position) {
  const int high = frame.codeword_low + frame.changes - 1;
  float node = 1;
  for (int j = 0; j <= high; ++j) {
    row[j] = position + j <= frame.received_bits ? node : 0;
    node *= frame.insertion_half;
  }
  for (int r = 1; r <= frame.n; ++r) next_row(frame, row, r, word >> (r - 1) & 1, position);
}

__global__ void briffa_gamma(const __grid_constant__ BriffaFrame frame, int first, float* gamma) {
  extern __shared__ float rows[];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const LatticeRow row{rows + thread, static_cast<int>(blockDim.x * blockDim.y)};
  const int i = first + blockIdx.x, from = blockIdx.y * blockDim.y + threadIdx.y;
  if (from >= frame.states) return;
  const int position = frame.origin + frame.n * i + frame.frame_low + from;
  const bool inside = position >= 0 && position <= frame.received_bits;
  const std::size_t each = static_cast<std::size_t>(frame.changes) * frame.q;
  float* out = gamma + (static_cast<std::size_t>(blockIdx.x) * frame.states + from) * each;
  for (int symbol = threadIdx.x; symbol < frame.q; symbol += blockDim.x) {
    const std::size_t at = static_cast<std::size_t>(i) * frame.q + symbol;
    const float prior = frame.priors == nullptr ? 1.0f / static_cast<float>(frame.q)
                                                : static_cast<float>(frame.priors[at]);
    if (inside) compute_metrics(frame, row, frame.codebooks[at], position);
    for (int change = 0; change < frame.changes; ++change) {
      const int j = frame.n + frame.codeword_low + change;
      out[static_cast<std::size_t>(change) * frame.q + symbol] =
          inside && j >= 0 ? prior * row[j] : 0;
    }
  }
}

}  // namespace

Status bounds_of(const void* kernel, BriffaBounds& bounds);

Status gamma_bounds(BriffaBounds& bounds) {
  return bounds_of(reinterpret_cast<const void*>(briffa_gamma), bounds);
}

Status launch_gamma(const BriffaFrame& frame, const BriffaGrid& grid, int first, float* gamma,
                    void* stream) {
  const dim3 blocks(grid.blocks_x, grid.blocks_y), threads(grid.threads_x, grid.threads_y);
  briffa_gamma<<<blocks, threads, grid.shared_bytes, static_cast<cudaStream_t>(stream)>>>(
      frame, first, gamma);
  return launched("briffa_gamma");
}

}  // namespace firn::cuda::papers
