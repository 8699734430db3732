// Nuclei, IV-E.3: coefficients made on the GPU by "hundreds of generators in parallel, each
// generating the random sequence for a coded block through a random seed". The paper does not name
// its generator; here it is the project's, ChaCha with 8 rounds (codec/random.h), so that the CPU
// can check it. The production kernel (../coefficients.cu) gives each thread 64 bytes instead of a
// coded block's row.
#include "cuda_kernels/papers/grid.cuh"
#include "cuda_kernels/papers/launch.h"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

constexpr int kThreads = 64, kDoubleRounds = 4;

__device__ __forceinline__ std::uint32_t turn(std::uint32_t word, int by) {
  return __funnelshift_l(word, word, by);
}
__device__ __forceinline__ void quarter_round(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c,
                                              std::uint32_t& d) {
  a += b, d = turn(d ^ a, 16);
  c += d, b = turn(b ^ c, 12);
  a += b, d = turn(d ^ a, 8);
  c += d, b = turn(b ^ c, 7);
}

// Block `counter` of the sequence of `row`.
__device__ __forceinline__ void chacha8(std::uint64_t seed, std::uint64_t row,
                                        std::uint32_t counter, std::uint32_t (&x)[16]) {
  const std::uint32_t state[16] = {0x61707865,
                                   0x3320646e,
                                   0x79622d32,
                                   0x6b206574,
                                   static_cast<std::uint32_t>(seed),
                                   static_cast<std::uint32_t>(seed >> 32),
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   counter,
                                   static_cast<std::uint32_t>(row),
                                   static_cast<std::uint32_t>(row >> 32),
                                   0};
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
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] += state[i];
}

// A generator per coded block. The row's last word is padded with zeros.
__global__ void nuclei_random_coefficients(Job job, std::uint8_t* out, std::size_t rows) {
  const std::size_t row = thread_of_grid();
  if (row >= rows) return;
  const int pitch = coefficient_pitch(job.n);
  auto* words = reinterpret_cast<std::uint32_t*>(out + row * pitch);
  for (int first = 0; first < pitch; first += 64) {
    std::uint32_t x[16];
    chacha8(job.seed, row, first / 64, x);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int at = first + 4 * i;
      if (at >= pitch) break;
      words[at / 4] = at + 4 <= job.n ? x[i] : x[i] & ((1u << 8 * (job.n - at)) - 1);
    }
  }
}

}  // namespace

Status launch_random_coefficients(const Job& job, std::uint8_t* out, void* stream) {
  const std::size_t rows = std::size_t(job.segments) * job.m;
  nuclei_random_coefficients<<<blocks_for(rows, kThreads), kThreads, 0,
                               static_cast<cudaStream_t>(stream)>>>(job, out, rows);
  return launched("nuclei_random_coefficients");
}

Status make_coefficients(Context& context, const Job& job) {
  return launch_random_coefficients(job, job.out, context.stream().handle());
}

}  // namespace firn::cuda::papers
