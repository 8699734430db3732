#include "fma_ceiling.h"

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda_kernels/runtime/cuda_check.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/stopwatch.h"

namespace firn::cuda {
namespace {

constexpr int kThreads = 256, kBlocksPerMultiprocessor = 8, kChains = 8, kRounds = 20000;

__global__ void __launch_bounds__(kThreads) multiply_and_add(float* out, float factor, float term) {
  float sums[kChains];
#pragma unroll
  for (int i = 0; i < kChains; ++i) sums[i] = static_cast<float>(threadIdx.x + i);
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) sums[i] = sums[i] * factor + term;
  }
  float all = 0;
#pragma unroll
  for (int i = 0; i < kChains; ++i) all += sums[i];
  out[blockIdx.x * kThreads + threadIdx.x] = all;
}

}  // namespace

Status measure_fma(Stream& stream, double& per_second) {
  const int blocks = stream.device().multiprocessors * kBlocksPerMultiprocessor;
  DeviceMemory out;
  const std::size_t threads = static_cast<std::size_t>(blocks) * kThreads;
  if (Status s = out.allocate(stream.device(), threads * sizeof(float)); !s.ok()) return s;
  Stopwatch watch;
  if (Status s = watch.open(stream.device()); !s.ok()) return s;
  per_second = 0;
  for (int run = 0; run < 5; ++run) {
    if (Status s = watch.start(stream); !s.ok()) return s;
    multiply_and_add<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream.handle())>>>(
        reinterpret_cast<float*>(out.data()), 0.999f, 0.5f);
    if (Status s = launched("multiply_and_add"); !s.ok()) return s;
    if (Status s = watch.stop(stream); !s.ok()) return s;
    double seconds = 0;
    if (Status s = watch.read(seconds); !s.ok()) return s;
    per_second = std::max(per_second, double(threads) * kChains * kRounds / seconds);
  }
  return {};
}

}  // namespace firn::cuda
