// Vingelmann and Fitzek, 4 and 4.1: encoding with a 256 x 256 multiplication table in a
// two-dimensional texture, in the paper's three partitionings: a thread per coded packet, per byte,
// per four bytes. Texture references are gone from CUDA; a texture object of a CUDA array stands in
// their place.
#include "cuda_kernels/papers/grid.cuh"
#include "cuda_kernels/papers/launch.h"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

constexpr int kThreads = 256;

// Two coordinates pinpoint the element; texels are centred at halves.
__device__ __forceinline__ std::uint32_t look_up(Texture table, std::uint32_t a, std::uint32_t b) {
  return tex2D<unsigned char>(table, static_cast<float>(a) + 0.5f, static_cast<float>(b) + 0.5f);
}

__device__ __forceinline__ std::uint32_t encode_one_byte(const Job& job, const std::uint8_t* vector,
                                                         const std::uint8_t* column,
                                                         Texture products) {
  std::uint32_t sum = 0;
  for (int j = 0; j < job.n; ++j) {
    sum ^= look_up(products, column[static_cast<std::size_t>(j) * job.k], vector[j]);
  }
  return sum;
}

__global__ void vingelmann_encode_packet_per_thread(Job job, Texture products) {
  const unsigned row = thread_of_grid();
  if (row >= static_cast<unsigned>(job.m)) return;
  const SegmentView segment = segment_of(job, blockIdx.y);
  const std::uint8_t* vector = segment.coefficients + row * segment.pitch;
  const auto* blocks = reinterpret_cast<const std::uint8_t*>(segment.blocks);
  auto* out = reinterpret_cast<std::uint8_t*>(segment.out) + std::size_t{row} * job.k;
  for (int i = 0; i < job.k; ++i) {
    out[i] = static_cast<std::uint8_t>(encode_one_byte(job, vector, blocks + i, products));
  }
}

__global__ void vingelmann_encode_byte_per_thread(Job job, Texture products) {
  const unsigned k = job.k, row = thread_of_grid() / k, at = thread_of_grid() % k;
  if (row >= static_cast<unsigned>(job.m)) return;
  const SegmentView segment = segment_of(job, blockIdx.y);
  const auto* blocks = reinterpret_cast<const std::uint8_t*>(segment.blocks);
  auto* out = reinterpret_cast<std::uint8_t*>(segment.out);
  out[std::size_t{row} * k + at] = static_cast<std::uint8_t>(
      encode_one_byte(job, segment.coefficients + row * segment.pitch, blocks + at, products));
}

__global__ void vingelmann_encode_word_per_thread(Job job, Texture products) {
  const SegmentView segment = segment_of(job, blockIdx.y);
  const unsigned row = thread_of_grid() / segment.words, word = thread_of_grid() % segment.words;
  if (row >= static_cast<unsigned>(job.m)) return;
  const std::uint8_t* vector = segment.coefficients + row * segment.pitch;
  std::uint32_t sum = 0;
  for (int j = 0; j < job.n; ++j) {
    const std::uint32_t c = vector[j], source = segment.blocks[j * segment.words + word];
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      sum ^= look_up(products, source >> (8 * b) & 0xff, c) << (8 * b);
    }
  }
  segment.out[row * segment.words + word] = sum;
}

Status launch(Context& context, const Job& job, std::size_t threads, void (*kernel)(Job, Texture),
              const char* name) {
  kernel<<<grid_for(job, threads, kThreads), kThreads, 0,
           static_cast<cudaStream_t>(context.stream().handle())>>>(job, context.tables().multiply);
  return launched(name);
}

}  // namespace

Status encode_packet_per_thread(Context& context, const Job& job) {
  return launch(context, job, job.m, vingelmann_encode_packet_per_thread,
                "vingelmann_encode_packet_per_thread");
}
Status encode_byte_per_thread(Context& context, const Job& job) {
  return launch(context, job, std::size_t(job.m) * job.k, vingelmann_encode_byte_per_thread,
                "vingelmann_encode_byte_per_thread");
}
Status encode_word_per_thread(Context& context, const Job& job) {
  return launch(context, job, std::size_t(job.m) * (job.k / 4), vingelmann_encode_word_per_thread,
                "vingelmann_encode_word_per_thread");
}

}  // namespace firn::cuda::papers
