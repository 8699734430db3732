// Coefficients on the GPU: the key stream of codec/random.h, one 64-byte ChaCha8 block per thread.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda_kernels/batch/coefficients.h"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kDoubleRounds = 4;
constexpr std::size_t kBlockBytes = 64;

__device__ __forceinline__ void quarter_round(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c,
                                              std::uint32_t& d) {
  a += b, d = __funnelshift_l(d ^ a, d ^ a, 16);
  c += d, b = __funnelshift_l(b ^ c, b ^ c, 12);
  a += b, d = __funnelshift_l(d ^ a, d ^ a, 8);
  c += d, b = __funnelshift_l(b ^ c, b ^ c, 7);
}

// Grid: x over blocks of one generation, y over generations.
__global__ void __launch_bounds__(kThreads) chacha8_coefficients(CoefficientJob job) {
  const std::size_t at = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) * kBlockBytes;
  if (at >= job.bytes) return;
  for (std::size_t g = blockIdx.y; g < job.generations; g += gridDim.y) {
    const std::uint64_t counter = job.first_block + at / kBlockBytes;
    const std::uint64_t stream = job.first_stream + g;
    const std::uint32_t state[16] = {0x61707865,
                                     0x3320646e,
                                     0x79622d32,
                                     0x6b206574,
                                     static_cast<std::uint32_t>(job.seed),
                                     static_cast<std::uint32_t>(job.seed >> 32),
                                     0,
                                     0,
                                     0,
                                     0,
                                     0,
                                     0,
                                     static_cast<std::uint32_t>(counter),
                                     static_cast<std::uint32_t>(stream),
                                     static_cast<std::uint32_t>(stream >> 32),
                                     static_cast<std::uint32_t>(counter >> 32)};
    std::uint32_t x[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) x[i] = state[i];
#pragma unroll
    for (int round = 0; round < kDoubleRounds; ++round) {
#pragma unroll
      for (int i = 0; i < 4; ++i) quarter_round(x[i], x[4 + i], x[8 + i], x[12 + i]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        quarter_round(x[i], x[4 + (i + 1) % 4], x[8 + (i + 2) % 4], x[12 + (i + 3) % 4]);
      }
    }
    std::uint8_t* out = job.out + g * job.bytes + at;
    const std::size_t bytes = min(kBlockBytes, job.bytes - at);
    const bool whole = bytes == kBlockBytes && reinterpret_cast<std::uintptr_t>(out) % 4 == 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const std::uint32_t word = x[i] + state[i];
      if (whole) {
        reinterpret_cast<std::uint32_t*>(out)[i] = word;
      } else {
#pragma unroll
        for (int b = 0; b < 4; ++b) {
          if (4 * i + b < bytes) out[4 * i + b] = static_cast<std::uint8_t>(word >> (8 * b));
        }
      }
    }
  }
}

}  // namespace

Status launch_coefficient_fill(const CoefficientJob& job, void* stream) {
  const std::size_t blocks = (job.bytes + kBlockBytes - 1) / kBlockBytes;
  const dim3 grid(static_cast<unsigned>((blocks + kThreads - 1) / kThreads),
                  static_cast<unsigned>(std::min<std::size_t>(job.generations, 65535)));
  chacha8_coefficients<<<grid, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(job);
  return launched("chacha8_coefficients");
}

}  // namespace firn::cuda
