// Briffa 2014, IV-A.2 to IV-A.4 and V: all kernels but gamma, in double precision. alpha and beta
// hold a symbol and a state in each thread and add up the symbols in shared memory; a row is
// normalised by a kernel of its own, as only the end of a kernel makes blocks wait for one another.
// Kernels of one block take steps of a block's threads, so that M_tau may exceed them.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda_kernels/papers/briffa_launch.h"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

__global__ void briffa_init(double* row, const double* prior, int states) {
  for (int m = threadIdx.x; m < states; m += blockDim.x) row[m] = prior[m];
}

// Copies a row to shared memory, all threads of the block at once.
__device__ __forceinline__ void copy_row(double* to, const double* from, int states) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  for (int m = thread; m < states; m += threads) to[m] = from[m];
}

// The sum over threadIdx.x, for threads with threadIdx.x == 0. `parts` has a block's threads.
__device__ __forceinline__ double sum_over_x(double* parts, double mine) {
  double* of_row = parts + threadIdx.y * blockDim.x;
  of_row[threadIdx.x] = mine;
  __syncthreads();
  for (int count = blockDim.x; count > 1;) {
    const int half = (count + 1) / 2, x = threadIdx.x;
    if (x + half < count) of_row[x] += of_row[x + half];
    __syncthreads();
    count = half;
  }
  return of_row[0];
}

// alpha'_i(m) (eq. 12) or, backwards, beta'_i(m) (eq. 5): `before` is the row that is known.
template <bool kBackwards>
__device__ __forceinline__ void sum_transitions(const BriffaFrame& frame, const double* before,
                                                double* after, const float* gamma) {
  extern __shared__ double shared[];
  double* row = shared + blockDim.x * blockDim.y;
  copy_row(row, before, frame.states);
  __syncthreads();
  const int m = blockIdx.x * blockDim.y + threadIdx.y;
  double sum = 0;
  for (int change = 0; change < frame.changes && m < frame.states; ++change) {
    const int drift = frame.codeword_low + change;
    const int other = kBackwards ? m + drift : m - drift, from = kBackwards ? m : other;
    if (other < 0 || other >= frame.states) continue;
    const float* metrics =
        gamma + (static_cast<std::size_t>(from) * frame.changes + change) * frame.q;
    double of_symbols = 0;
    for (int D = threadIdx.x; D < frame.q; D += blockDim.x) of_symbols += metrics[D];
    sum += row[other] * of_symbols;
  }
  sum = sum_over_x(shared, sum);
  if (threadIdx.x == 0 && m < frame.states) after[m] = sum;
}

__global__ void briffa_alpha(const __grid_constant__ BriffaFrame frame, int i, int pitch,
                             const float* gamma) {
  double* after = frame.alpha + static_cast<std::size_t>(i) * pitch;
  sum_transitions<false>(frame, after - pitch, after, gamma);
}

__global__ void briffa_beta(const __grid_constant__ BriffaFrame frame, int i, int pitch,
                            const float* gamma) {
  double* before = frame.beta + static_cast<std::size_t>(i) * pitch;
  sum_transitions<true>(frame, before + pitch, before, gamma);
}

// The sum over a block's threads in each of them.
__device__ __forceinline__ double sum_over_block(double mine) {
  __shared__ double parts[32];
  for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(0xffffffff, mine, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
  __syncthreads();
  double sum = 0;
  for (int warp = 0; warp < static_cast<int>(blockDim.x) / 32; ++warp) sum += parts[warp];
  return sum;
}

// Eq. 11. A row without mass stays as it is.
__global__ void briffa_normalise(double* row, int states) {
  double sum = 0;
  for (int m = threadIdx.x; m < states; m += blockDim.x) sum += row[m];
  sum = sum_over_block(sum);
  if (!(sum > 0)) return;
  for (int m = threadIdx.x; m < states; m += blockDim.x) row[m] /= sum;
}

// Eq. 1, without its constant factor, which normalised metrics have lost.
__global__ void briffa_symbols(const __grid_constant__ BriffaFrame frame, int first, int pitch,
                               const float* gamma) {
  extern __shared__ double shared[];
  double *alpha = shared, *beta = shared + frame.states;
  const int i = first + blockIdx.x;
  copy_row(alpha, frame.alpha + static_cast<std::size_t>(i) * pitch, frame.states);
  copy_row(beta, frame.beta + static_cast<std::size_t>(i + 1) * pitch, frame.states);
  __syncthreads();
  const int symbol = blockIdx.y * blockDim.x + threadIdx.x;
  if (symbol >= frame.q) return;
  const std::size_t each = static_cast<std::size_t>(frame.states) * frame.changes * frame.q;
  const float* metric = gamma + blockIdx.x * each + symbol;
  double sum = 0;
  for (int from = 0; from < frame.states; ++from) {
    for (int change = 0; change < frame.changes; ++change, metric += frame.q) {
      const int to = from + frame.codeword_low + change;
      if (to >= 0 && to < frame.states) sum += alpha[from] * beta[to] * *metric;
    }
  }
  frame.symbols[static_cast<std::size_t>(i) * frame.q + symbol] = sum;
}

// lambda_i(m) (eq. 2), normalised: the posterior of the drift at boundary i.
__global__ void briffa_drifts(const double* alpha, const double* beta, double* drifts, int states) {
  double sum = 0;
  for (int m = threadIdx.x; m < states; m += blockDim.x) sum += alpha[m] * beta[m];
  sum = sum_over_block(sum);
  for (int m = threadIdx.x; m < states; m += blockDim.x) {
    drifts[m] = sum > 0 ? alpha[m] * beta[m] / sum : 0;
  }
}

// The paper's block of M_tau threads, in whole warps.
int threads_for(int states) {
  return std::min(1024, (states + 31) / 32 * 32);
}

cudaStream_t stream_of(void* stream) {
  return static_cast<cudaStream_t>(stream);
}

}  // namespace

Status bounds_of(const void* kernel, BriffaBounds& bounds) {
  int device = 0, shared = 0;
  if (Status s = checked(cudaGetDevice(&device), "cudaGetDevice"); !s.ok()) return s;
  if (Status s =
          checked(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                  "cudaDeviceGetAttribute");
      !s.ok()) {
    return s;
  }
  cudaFuncAttributes attributes;
  if (Status s = checked(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
      !s.ok()) {
    return s;
  }
  const int free = shared - static_cast<int>(attributes.sharedSizeBytes);
  bounds = {attributes.maxThreadsPerBlock, static_cast<std::size_t>(free)};
  return checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, free),
                 "cudaFuncSetAttribute");
}

Status sums_bounds(BriffaBounds& bounds) {
  BriffaBounds alpha, beta;
  if (Status s = bounds_of(reinterpret_cast<const void*>(briffa_alpha), alpha); !s.ok()) return s;
  if (Status s = bounds_of(reinterpret_cast<const void*>(briffa_beta), beta); !s.ok()) return s;
  bounds = {std::min(alpha.threads, beta.threads), std::min(alpha.shared_bytes, beta.shared_bytes)};
  return {};
}

Status symbols_bounds(BriffaBounds& bounds) {
  return bounds_of(reinterpret_cast<const void*>(briffa_symbols), bounds);
}

Status launch_init(const BriffaFrame& frame, bool backwards, void* stream) {
  const std::size_t last = static_cast<std::size_t>(frame.length) * frame.row_pitch();
  briffa_init<<<1, threads_for(frame.states), 0, stream_of(stream)>>>(
      backwards ? frame.beta + last : frame.alpha, backwards ? frame.end : frame.start,
      frame.states);
  return launched("briffa_init");
}

Status launch_alpha(const BriffaFrame& frame, const BriffaGrid& grid, int i, const float* gamma,
                    void* stream) {
  briffa_alpha<<<grid.blocks_x, dim3(grid.threads_x, grid.threads_y), grid.shared_bytes,
                 stream_of(stream)>>>(frame, i, frame.row_pitch(), gamma);
  return launched("briffa_alpha");
}

Status launch_beta(const BriffaFrame& frame, const BriffaGrid& grid, int i, const float* gamma,
                   void* stream) {
  briffa_beta<<<grid.blocks_x, dim3(grid.threads_x, grid.threads_y), grid.shared_bytes,
                stream_of(stream)>>>(frame, i, frame.row_pitch(), gamma);
  return launched("briffa_beta");
}

Status launch_normalise(const BriffaFrame& frame, double* row, void* stream) {
  briffa_normalise<<<1, threads_for(frame.states), 0, stream_of(stream)>>>(row, frame.states);
  return launched("briffa_normalise");
}

Status launch_symbols(const BriffaFrame& frame, const BriffaGrid& grid, int first,
                      const float* gamma, void* stream) {
  briffa_symbols<<<dim3(grid.blocks_x, grid.blocks_y), grid.threads_x, grid.shared_bytes,
                   stream_of(stream)>>>(frame, first, frame.row_pitch(), gamma);
  return launched("briffa_symbols");
}

Status launch_drifts(const BriffaFrame& frame, int i, int which, void* stream) {
  const std::size_t row = static_cast<std::size_t>(i) * frame.row_pitch();
  briffa_drifts<<<1, threads_for(frame.states), 0, stream_of(stream)>>>(
      frame.alpha + row, frame.beta + row, frame.drifts + which * frame.states, frame.states);
  return launched("briffa_drifts");
}

}  // namespace firn::cuda::papers
