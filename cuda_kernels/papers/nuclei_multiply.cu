// Nuclei, IV-B and IV-C: the benchmark that measures multiplication alone. Each thread makes a
// whole coded block; source words are made on the fly, and with the factor 0xff every loop takes 8
// rounds. The paper: c = 7168 coded blocks, n = 1024, k = 2048.
#include "cuda_kernels/papers/nuclei_multiply.cuh"

#include "cuda_kernels/papers/grid.cuh"
#include "cuda_kernels/papers/launch.h"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

// 7168 threads in small blocks reach more of a chip's multiprocessors than in large ones.
constexpr int kThreads = 32;

template <class Multiply>
__device__ __forceinline__ void memory_free_encode(const Job& job) {
  const unsigned words = job.k / 4, each = job.words_per_thread;
  const unsigned pieces = (words + each - 1) / each;
  const unsigned row = thread_of_grid() / pieces, first = thread_of_grid() % pieces * each;
  if (row >= static_cast<unsigned>(job.m)) return;
  for (unsigned word = first; word < min(words, first + each); ++word) {
    std::uint32_t sum = 0;
    for (int source = 0; source < job.n; ++source) {
      sum ^= Multiply::multiply(job.factor, memory_free_word(row, source, word));
    }
    reinterpret_cast<std::uint32_t*>(job.out)[std::size_t{row} * words + word] = sum;
  }
}

__global__ void nuclei_multiply_byte(Job job) {
  memory_free_encode<ByteLoop>(job);
}
__global__ void nuclei_multiply_word_conditions(Job job) {
  memory_free_encode<WordConditions>(job);
}
__global__ void nuclei_multiply_word_mask(Job job) {
  memory_free_encode<WordMask>(job);
}
__global__ void nuclei_multiply_word_mul24(Job job) {
  memory_free_encode<WordMul24>(job);
}
__global__ void nuclei_multiply_word_by_hand(Job job) {
  memory_free_encode<WordByHand>(job);
}

Status launch(Context& context, Job job, void (*kernel)(Job), const char* name) {
  const int words = job.k / 4;
  if (job.words_per_thread <= 0) job.words_per_thread = words;
  const std::size_t pieces = (words + job.words_per_thread - 1) / job.words_per_thread;
  const auto stream = static_cast<cudaStream_t>(context.stream().handle());
  kernel<<<blocks_for(job.m * pieces, kThreads), kThreads, 0, stream>>>(job);
  return launched(name);
}

}  // namespace

Status multiply_by_byte_loop(Context& context, const Job& job) {
  return launch(context, job, nuclei_multiply_byte, "nuclei_multiply_byte");
}
Status multiply_by_conditions(Context& context, const Job& job) {
  return launch(context, job, nuclei_multiply_word_conditions, "nuclei_multiply_word_conditions");
}
Status multiply_by_mask(Context& context, const Job& job) {
  return launch(context, job, nuclei_multiply_word_mask, "nuclei_multiply_word_mask");
}
Status multiply_by_mul24(Context& context, const Job& job) {
  return launch(context, job, nuclei_multiply_word_mul24, "nuclei_multiply_word_mul24");
}
Status multiply_by_hand(Context& context, const Job& job) {
  return launch(context, job, nuclei_multiply_word_by_hand, "nuclei_multiply_word_by_hand");
}

}  // namespace firn::cuda::papers
