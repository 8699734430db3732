// Vingelmann and Fitzek, 6: their outlook, coefficients in GF(2). A product is then a choice, and a
// coding vector is n bits. Encoding and progressive decoding keep the structure of the paper's
// GF(2^8) forms: a thread for each word, two kernels for each coded packet, the pivot searched by
// the host.
#include "cuda_kernels/papers/launch.h"
#include "cuda_kernels/papers/replicated.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

constexpr int kThreads = 256;

cudaStream_t queue(Context& context) {
  return static_cast<cudaStream_t>(context.stream().handle());
}

constexpr int bit_words(int n) {
  return (n + 31) / 32;
}

// Coefficients come a byte each; bit j % 32 of word j / 32 is coefficient j. A thread for each
// word.
__global__ void vingelmann_pack_bits(Job job, std::uint32_t* bits, std::size_t rows) {
  const int words = bit_words(job.n);
  const std::size_t row = thread_of_grid() / words;
  const int first = static_cast<int>(thread_of_grid() % words) * 32;
  if (row >= rows) return;
  const std::uint8_t* vector = job.coefficients + row * coefficient_pitch(job.n);
  std::uint32_t packed = 0;
  for (int j = 0; j < 32 && first + j < job.n; ++j) {
    packed |= static_cast<std::uint32_t>(vector[first + j] & 1) << j;
  }
  bits[thread_of_grid()] = packed;
}

__global__ void vingelmann_encode_binary(Job job, const std::uint32_t* bits) {
  const SegmentView segment = segment_of(job, blockIdx.y);
  const unsigned row = thread_of_grid() / segment.words, word = thread_of_grid() % segment.words;
  if (row >= static_cast<unsigned>(job.m)) return;
  const std::uint32_t* vector = bits + (std::size_t{blockIdx.y} * job.m + row) * bit_words(job.n);
  std::uint32_t sum = 0;
  for (int first = 0; first < job.n; first += 32) {
    const std::uint32_t chosen = vector[first / 32];
    const int count = min(32, job.n - first);
    for (int j = 0; j < count; ++j) {
      const std::uint32_t mask = 0u - (chosen >> j & 1);
      sum ^= mask & segment.blocks[(first + j) * segment.words + word];
    }
  }
  segment.out[row * segment.words + word] = sum;
}

// As in vingelmann_decode.cu, in words; a vector is bit_words.
struct BinaryState {
  std::uint32_t* matrix;   // n x bit_words
  std::uint32_t* payload;  // n x words
  std::uint32_t* current;  // bit_words + words
  std::uint32_t* column;   // n: the matrix's word at the pivot before the second kernel
  std::uint16_t* known;    // n
  int bit_words, words;
};

__device__ __forceinline__ std::uint32_t& word_of(const BinaryState& state, int row, int i) {
  return i < state.bit_words
             ? state.matrix[static_cast<std::size_t>(row) * state.bit_words + i]
             : state.payload[static_cast<std::size_t>(row) * state.words + i - state.bit_words];
}

__global__ void vingelmann_reduce_packet_binary(BinaryState state, const std::uint32_t* vector,
                                                const std::uint32_t* payload, int rank) {
  const int i = static_cast<int>(thread_of_grid());
  if (i >= state.bit_words + state.words) return;
  std::uint32_t value = i < state.bit_words ? vector[i] : payload[i - state.bit_words];
  for (int r = 0; r < rank; ++r) {
    const int row = state.known[r];
    if ((vector[row / 32] >> (row % 32) & 1) != 0) value ^= word_of(state, row, i);
  }
  state.current[i] = value;
}

__global__ void vingelmann_insert_packet_binary(BinaryState state, int rank, int pivot) {
  const int width = state.bit_words + state.words;
  const int r = static_cast<int>(thread_of_grid()) / width;
  const int i = static_cast<int>(thread_of_grid()) % width;
  if (r > rank) return;
  if (r == rank) {
    word_of(state, pivot, i) = state.current[i];
    if (i == 0) state.known[rank] = static_cast<std::uint16_t>(pivot);
    return;
  }
  const int row = state.known[r];
  if ((state.column[row] >> (pivot % 32) & 1) != 0) word_of(state, row, i) ^= state.current[i];
}

Status pack(Context& context, const Job& job, std::uint32_t* bits) {
  const std::size_t rows = std::size_t(job.segments) * job.m;
  vingelmann_pack_bits<<<blocks_for(rows * bit_words(job.n), kThreads), kThreads, 0,
                         queue(context)>>>(job, bits, rows);
  return launched("vingelmann_pack_bits");
}

// Of `job.n` bits in host memory, the lowest that is set; n if none.
int first_bit(const std::uint32_t* words, int n) {
  int bit = 0;
  while (bit < n && (words[bit / 32] >> (bit % 32) & 1) == 0) ++bit;
  return bit;
}

// A job of one segment; `vectors` are its packed coefficients.
Status decode_segment(Context& context, const Job& job, const BinaryState& state,
                      const std::uint32_t* vectors, std::uint32_t* host) {
  const int width = state.bit_words + state.words;
  const std::size_t bytes = 4 * std::size_t(state.bit_words);
  int rank = 0;
  for (int packet = 0; packet < job.m && rank < job.n; ++packet) {
    const std::size_t at = packet;
    vingelmann_reduce_packet_binary<<<blocks_for(width, kThreads), kThreads, 0, queue(context)>>>(
        state, vectors + at * state.bit_words,
        reinterpret_cast<const std::uint32_t*>(job.blocks + at * job.k), rank);
    if (Status s = launched("vingelmann_reduce_packet_binary"); !s.ok()) return s;
    if (Status s =
            context.stream().copy_out(reinterpret_cast<std::uint8_t*>(host),
                                      reinterpret_cast<const std::uint8_t*>(state.current), bytes);
        !s.ok()) {
      return s;
    }
    if (Status s = context.stream().wait(); !s.ok()) return s;
    const int pivot = first_bit(host, job.n);
    if (pivot == job.n) continue;
    if (Status s = checked(cudaMemcpy2DAsync(state.column, 4, state.matrix + pivot / 32, bytes, 4,
                                             job.n, cudaMemcpyDeviceToDevice, queue(context)),
                           "cudaMemcpy2DAsync");
        !s.ok()) {
      return s;
    }
    const std::size_t threads = std::size_t(rank + 1) * width;
    vingelmann_insert_packet_binary<<<blocks_for(threads, kThreads), kThreads, 0, queue(context)>>>(
        state, rank, pivot);
    if (Status s = launched("vingelmann_insert_packet_binary"); !s.ok()) return s;
    ++rank;
  }
  *job.ranks = rank;
  return {};
}

}  // namespace

Status encode_binary(Context& context, const Job& job) {
  std::uint8_t* scratch = nullptr;
  const std::size_t rows = std::size_t(job.segments) * job.m;
  if (Status s = context.scratch(4 * rows * bit_words(job.n), scratch); !s.ok()) return s;
  auto* bits = reinterpret_cast<std::uint32_t*>(scratch);
  if (Status s = pack(context, job, bits); !s.ok()) return s;
  const std::size_t words = std::size_t(job.m) * (job.k / 4);
  vingelmann_encode_binary<<<grid_for(job, words, kThreads), kThreads, 0, queue(context)>>>(job,
                                                                                            bits);
  return launched("vingelmann_encode_binary");
}

Status decode_binary(Context& context, const Job& job) {
  const std::size_t words = bit_words(job.n), n = job.n;
  const std::size_t vectors = std::size_t(job.segments) * job.m * words;
  std::uint8_t *scratch = nullptr, *host = nullptr;
  if (Status s =
          context.scratch(4 * (vectors + n * words + words + job.k / 4 + n) + 2 * n, scratch);
      !s.ok()) {
    return s;
  }
  if (Status s = context.pinned(4 * words, host); !s.ok()) return s;
  auto* bits = reinterpret_cast<std::uint32_t*>(scratch);
  BinaryState state{};
  state.bit_words = static_cast<int>(words), state.words = job.k / 4;
  state.matrix = bits + vectors;
  state.current = state.matrix + n * words;
  state.column = state.current + words + state.words;
  state.known = reinterpret_cast<std::uint16_t*>(state.column + n);
  if (Status s = pack(context, job, bits); !s.ok()) return s;
  for (int segment = 0; segment < job.segments; ++segment) {
    const Job one = one_segment(job, segment);
    state.payload = reinterpret_cast<std::uint32_t*>(one.out);
    if (Status s = decode_segment(context, one, state, bits + segment * job.m * words,
                                  reinterpret_cast<std::uint32_t*>(host));
        !s.ok()) {
      return s;
    }
  }
  return context.stream().wait();
}

}  // namespace firn::cuda::papers
