// Nuclei, IV-E: encoding with data in memory, in the partitionings that the paper compares, with
// the word loop written by hand. Also Envelope, 4.2.1, which keeps the last of them.
#include "cuda_kernels/papers/grid.cuh"
#include "cuda_kernels/papers/launch.h"
#include "cuda_kernels/papers/nuclei_multiply.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

constexpr int kThreads = 256;  // Envelope, Fig. 2

cudaStream_t queue(Context& context) {
  return static_cast<cudaStream_t>(context.stream().handle());
}

// IV-E.1, first: a thread makes a whole coded block.
__global__ void nuclei_encode_coarse(Job job) {
  const unsigned row = thread_of_grid();
  if (row >= static_cast<unsigned>(job.m)) return;
  const SegmentView segment = segment_of(job, blockIdx.y);
  const std::uint8_t* c = segment.coefficients + row * segment.pitch;
  for (unsigned word = 0; word < segment.words; ++word) {
    std::uint32_t sum = 0;
    for (int j = 0; j < job.n; ++j) {
      sum ^= WordByHand::multiply(c[j], segment.blocks[j * segment.words + word]);
    }
    segment.out[row * segment.words + word] = sum;
  }
}

// IV-E.1, second: a thread makes one word, so that a warp's accesses are neighbours.
__global__ void nuclei_encode_fine(Job job) {
  const SegmentView segment = segment_of(job, blockIdx.y);
  const unsigned row = thread_of_grid() / segment.words, word = thread_of_grid() % segment.words;
  if (row >= static_cast<unsigned>(job.m)) return;
  const std::uint8_t* c = segment.coefficients + row * segment.pitch;
  std::uint32_t sum = 0;
#pragma unroll 1
  for (int j = 0; j < job.n; ++j) {
    sum ^= WordByHand::multiply(c[j], segment.blocks[j * segment.words + word]);
  }
  segment.out[row * segment.words + word] = sum;
}

// IV-E.1, third: coefficients are read four at a time and kept for the next four products.
__device__ __forceinline__ void encode_with_four_coefficients(const Job& job) {
  const SegmentView segment = segment_of(job, blockIdx.y);
  const unsigned row = thread_of_grid() / segment.words, word = thread_of_grid() % segment.words;
  if (row >= static_cast<unsigned>(job.m)) return;
  const std::uint8_t* c = segment.coefficients + row * segment.pitch;
  std::uint32_t sum = 0;
  const std::uint32_t* source = segment.blocks + word;
  int j = 0;
  for (; j + 4 <= job.n; j += 4) {
    const std::uint32_t four = four_coefficients(c, j);
    std::uint32_t words[4];
#pragma unroll
    for (int b = 0; b < 4; ++b) words[b] = source[(j + b) * segment.words];
#pragma unroll
    for (int b = 0; b < 4; ++b) sum ^= WordByHand::multiply(four >> (8 * b) & 0xff, words[b]);
  }
  for (; j < job.n; ++j) sum ^= WordByHand::multiply(c[j], source[j * segment.words]);
  segment.out[row * segment.words + word] = sum;
}

__global__ void nuclei_encode_fine_coefficients4(Job job) {
  encode_with_four_coefficients(job);
}
// The same under names of their own: the GPU's share in mixed encoding, and after the GPU has made
// the coefficients.
__global__ void nuclei_encode_gpu_share(Job job) {
  encode_with_four_coefficients(job);
}
__global__ void nuclei_encode_made_coefficients(Job job) {
  encode_with_four_coefficients(job);
}

Status launch_words(const Job& job, void (*kernel)(Job), const char* name, void* stream) {
  const std::size_t words = std::size_t(job.m) * (job.k / 4);
  kernel<<<grid_for(job, words, kThreads), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(job);
  return launched(name);
}

}  // namespace

Status encode_coarse(Context& context, const Job& job) {
  // As for the benchmark without memory: small blocks spread few threads over the chip.
  nuclei_encode_coarse<<<grid_for(job, job.m, 32), 32, 0, queue(context)>>>(job);
  return launched("nuclei_encode_coarse");
}

Status encode_fine(Context& context, const Job& job) {
  return launch_words(job, nuclei_encode_fine, "nuclei_encode_fine", context.stream().handle());
}

Status encode_fine_coefficients4(Context& context, const Job& job) {
  return launch_words(job, nuclei_encode_fine_coefficients4, "nuclei_encode_fine_coefficients4",
                      context.stream().handle());
}

Status launch_gpu_share(const Job& job, void* stream) {
  return launch_words(job, nuclei_encode_gpu_share, "nuclei_encode_gpu_share", stream);
}

// IV-E.3: the application asks for a number of coded blocks and the GPU does the rest.
Status encode_gpu_coefficients(Context& context, const Job& job) {
  std::uint8_t* made = nullptr;
  const std::size_t rows = std::size_t(job.segments) * job.m;
  if (Status s = context.scratch(rows * coefficient_pitch(job.n), made); !s.ok()) return s;
  if (Status s = launch_random_coefficients(job, made, context.stream().handle()); !s.ok()) {
    return s;
  }
  Job with_coefficients = job;
  with_coefficients.coefficients = made;
  return launch_words(with_coefficients, nuclei_encode_made_coefficients,
                      "nuclei_encode_made_coefficients", context.stream().handle());
}

}  // namespace firn::cuda::papers
