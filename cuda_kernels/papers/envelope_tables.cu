// Pushing the Envelope, 5.1: encoding by logarithm and exponential tables, in the paper's stages 0
// to 5 (Fig. 7), and the fully conflict-free table that the paper estimated and that fits today.
//
// From stage 1 on, source blocks and coefficients are brought to the logarithmic domain first, by
// kernels of their own, and encoding has one block of threads per multiprocessor, so that tables
// are loaded to shared memory as seldom as possible. Segments are worked on one behind the other,
// the paper's "array of segments".
#include "cuda_kernels/papers/grid.cuh"
#include "cuda_kernels/papers/launch.h"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

constexpr int kBaselineThreads = 256, kThreads = 1024;

// ---- Preprocessing: 5.1.1, steps 1 and 2 --------------------------------------------------------

__device__ __forceinline__ void map_bytes(const std::uint32_t* from, std::uint32_t* to,
                                          std::size_t words, const std::uint8_t* table) {
  __shared__ std::uint8_t cached[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) cached[i] = table[i];
  __syncthreads();
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = thread_of_grid(); i < words; i += stride) {
    const std::uint32_t word = from[i];
    to[i] = cached[word & 0xff] | cached[word >> 8 & 0xff] << 8 | cached[word >> 16 & 0xff] << 16 |
            std::uint32_t{cached[word >> 24]} << 24;
  }
}

// log(0) is 0xff (Fig. 5).
__global__ void envelope_to_log(const std::uint32_t* from, std::uint32_t* to, std::size_t words,
                                const std::uint8_t* table) {
  map_bytes(from, to, words, table);
}
// 5.1.3: log(0) is 0, all other logarithms are one more.
__global__ void envelope_to_log_zero_remapped(const std::uint32_t* from, std::uint32_t* to,
                                              std::size_t words, const std::uint8_t* table) {
  map_bytes(from, to, words, table);
}

// ---- What an encoding thread does ---------------------------------------------------------------

// The word under construction, in stages 0 to 2.
struct WordSum {
  std::uint32_t bytes = 0;
  __device__ __forceinline__ std::uint32_t word() const { return bytes; }
};

// One word of a coded block: Stage adds the products of a coefficient with a source word's bytes.
template <class Stage>
__device__ __forceinline__ std::uint32_t encode_word(const Job& job, const SegmentView& segment,
                                                     unsigned index, const Stage& stage) {
  const unsigned row = index / segment.words, word = index % segment.words;
  const std::uint8_t* c = segment.coefficients + row * segment.pitch;
  const std::uint32_t* source = segment.blocks + word;
  typename Stage::Sum sum;
  int j = 0;
  for (; j + 4 <= job.n; j += 4) {
    const std::uint32_t four = four_coefficients(c, j);
    std::uint32_t words[4];  // all four on their way before the first is used
#pragma unroll
    for (int b = 0; b < 4; ++b) words[b] = source[(j + b) * segment.words];
#pragma unroll
    for (int b = 0; b < 4; ++b) stage.add(sum, four >> (8 * b) & 0xff, words[b]);
  }
  for (; j < job.n; ++j) stage.add(sum, c[j], source[j * segment.words]);
  return sum.word();
}

// All words of all segments, by as many blocks of threads as there are multiprocessors.
template <class Stage>
__device__ __forceinline__ void encode_persistently(const Job& job, const Stage& stage) {
  const unsigned words = job.m * (job.k / 4), stride = gridDim.x * blockDim.x;
  for (unsigned s = 0; s < static_cast<unsigned>(job.segments); ++s) {
    const SegmentView segment = segment_of(job, s);
    // Turned from segment to segment, so that small ones are not all the same blocks' work.
    const unsigned begin = (blockIdx.x + s) % gridDim.x * blockDim.x + threadIdx.x;
    for (unsigned i = begin; i < words; i += stride) {
      segment.out[i] = encode_word(job, segment, i, stage);
    }
  }
}

__device__ __forceinline__ void cache_table(std::uint8_t* to, const std::uint8_t* from, int bytes) {
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) {
    reinterpret_cast<std::uint32_t*>(to)[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
  }
  __syncthreads();
}

// ---- Table-based-0: Fig. 1 four times, tables in shared memory
// ------------------------------------

struct Table0 {
  using Sum = WordSum;
  const std::uint8_t *log, *exp;
  __device__ __forceinline__ void add(Sum& sum, std::uint32_t c, std::uint32_t word) const {
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const std::uint32_t x = word >> (8 * b) & 0xff;
      if (c != 0 && x != 0) sum.bytes ^= std::uint32_t{exp[log[c] + log[x]]} << (8 * b);
    }
  }
};

__global__ void envelope_encode_table0(Job job, const std::uint8_t* log, const std::uint8_t* exp) {
  __shared__ alignas(4) std::uint8_t tables[256 + 512];
  cache_table(tables, log, 256);
  cache_table(tables + 256, exp, 512);
  const SegmentView segment = segment_of(job, blockIdx.y);
  if (thread_of_grid() >= job.m * segment.words) return;
  segment.out[thread_of_grid()] =
      encode_word(job, segment, thread_of_grid(), Table0{tables, tables + 256});
}

// ---- Table-based-1: logarithms in, four tests for zero
// --------------------------------------------

struct Table1 {
  using Sum = WordSum;
  const std::uint8_t* exp;
  __device__ __forceinline__ void add(Sum& sum, std::uint32_t log_c, std::uint32_t logs) const {
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const std::uint32_t log_x = logs >> (8 * b) & 0xff;
      if (log_c == 0xff || log_x == 0xff) continue;
      sum.bytes ^= std::uint32_t{exp[log_c + log_x]} << (8 * b);
    }
  }
};

__global__ void __launch_bounds__(kThreads)
    envelope_encode_table1(Job job, const std::uint8_t* exp) {
  __shared__ alignas(4) std::uint8_t table[512];
  cache_table(table, exp, 512);
  encode_persistently(job, Table1{table});
}

// ---- Table-based-2: the coefficient is tested once for its four products
// --------------------------

struct Table2 {
  using Sum = WordSum;
  const std::uint8_t* exp;
  __device__ __forceinline__ void add(Sum& sum, std::uint32_t log_c, std::uint32_t logs) const {
    if (log_c == 0xff) return;
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const std::uint32_t log_x = logs >> (8 * b) & 0xff;
      if (log_x != 0xff) sum.bytes ^= std::uint32_t{exp[log_c + log_x]} << (8 * b);
    }
  }
};

__global__ void __launch_bounds__(kThreads)
    envelope_encode_table2(Job job, const std::uint8_t* exp) {
  __shared__ alignas(4) std::uint8_t table[512];
  cache_table(table, exp, 512);
  encode_persistently(job, Table2{table});
}

// ---- Table-based-3: logarithms with zero at zero, so that tests are against zero
// ------------------

// Exp has at(index) for the shifted table, wherever that is. A zero byte looks an entry up like any
// other, and a predicate keeps it out of the sum: no branch. Here and later the four bytes are
// summed in registers of their own and put together once, at the end.
template <class Exp>
struct ZeroRemapped {
  struct Sum {
    std::uint32_t of[4] = {};
    __device__ __forceinline__ std::uint32_t word() const {
      return of[0] | of[1] << 8 | of[2] << 16 | of[3] << 24;
    }
  };
  Exp exp;
  __device__ __forceinline__ void add(Sum& sum, std::uint32_t log_c, std::uint32_t logs) const {
    logs = log_c != 0 ? logs : 0;
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const std::uint32_t log_x = logs >> (8 * b) & 0xff;
      const std::uint32_t entry = exp.at(log_c + log_x);
      sum.of[b] ^= log_x != 0 ? entry : 0;
    }
  }
};

struct BytesInShared {
  const std::uint8_t* table;
  __device__ __forceinline__ std::uint32_t at(std::uint32_t index) const { return table[index]; }
};

__global__ void __launch_bounds__(kThreads)
    envelope_encode_table3(Job job, const std::uint8_t* exp) {
  __shared__ alignas(4) std::uint8_t table[512];
  cache_table(table, exp, 512);
  encode_persistently(job, ZeroRemapped<BytesInShared>{{table}});
}

// ---- Table-based-4: the exponential table through the texture cache
// ------------------------------- Texture references are gone from CUDA; a texture object of linear
// memory stands in their place. On chips of today the read-only path is the same cache without the
// texture unit's addressing.

struct BytesInTexture {
  Texture table;
  __device__ __forceinline__ std::uint32_t at(std::uint32_t index) const {
    return tex1Dfetch<unsigned char>(table, static_cast<int>(index));
  }
};
struct BytesReadOnly {
  const std::uint8_t* table;
  __device__ __forceinline__ std::uint32_t at(std::uint32_t index) const {
    return __ldg(table + index);
  }
};

__global__ void __launch_bounds__(kThreads) envelope_encode_table4_texture(Job job, Texture exp) {
  encode_persistently(job, ZeroRemapped<BytesInTexture>{{exp}});
}
__global__ void __launch_bounds__(kThreads)
    envelope_encode_table4_read_only(Job job, const std::uint8_t* exp) {
  encode_persistently(job, ZeroRemapped<BytesReadOnly>{{exp}});
}

// ---- Table-based-5: eight copies of a table of words; and one for every bank
// ----------------------

// Entry e of copy c stands at e * kCopies + c: with 32 copies a lane never leaves its bank.
template <int kCopies>
struct WordCopies {
  const std::uint32_t* mine;  // of this lane's copy
  __device__ __forceinline__ std::uint32_t at(std::uint32_t index) const {
    return mine[index * kCopies];
  }
};

template <int kCopies>
__device__ __forceinline__ void encode_by_copies(const Job& job, std::uint32_t* tables,
                                                 const std::uint8_t* exp) {
  for (int i = threadIdx.x; i < 512 * kCopies; i += blockDim.x) tables[i] = exp[i / kCopies];
  __syncthreads();
  encode_persistently(job, ZeroRemapped<WordCopies<kCopies>>{{tables + threadIdx.x % kCopies}});
}

__global__ void __launch_bounds__(kThreads)
    envelope_encode_table5(Job job, const std::uint8_t* exp) {
  __shared__ std::uint32_t tables[512 * 8];
  encode_by_copies<8>(job, tables, exp);
}

constexpr int kConflictFreeBytes = 512 * 32 * 4;  // 64 KiB: exactly what a Turing block can have

__global__ void __launch_bounds__(kThreads)
    envelope_encode_conflict_free(Job job, const std::uint8_t* exp) {
  extern __shared__ std::uint32_t tables[];
  encode_by_copies<32>(job, tables, exp);
}

// ---- Launching ----------------------------------------------------------------------------------

cudaStream_t queue(Context& context) {
  return static_cast<cudaStream_t>(context.stream().handle());
}

// A job whose coefficients and blocks are logarithms, in scratch memory.
Status preprocess(Context& context, Job& job, bool zero_remapped, std::uint8_t* scratch) {
  const FieldTables& tables = context.tables();
  const auto to_log = [&](const std::uint8_t*& bytes, std::size_t count, std::uint8_t* to) {
    const auto* from = reinterpret_cast<const std::uint32_t*>(bytes);
    auto* out = reinterpret_cast<std::uint32_t*>(to);
    const unsigned blocks = context.device().multiprocessors;
    if (zero_remapped) {
      envelope_to_log_zero_remapped<<<blocks, kThreads, 0, queue(context)>>>(from, out, count / 4,
                                                                             tables.log_zero);
    } else {
      envelope_to_log<<<blocks, kThreads, 0, queue(context)>>>(from, out, count / 4, tables.log_ff);
    }
    bytes = to;
    return launched("envelope_to_log");
  };
  const std::size_t vectors = std::size_t(job.segments) * job.m * coefficient_pitch(job.n);
  const std::size_t blocks = std::size_t(job.segments) * job.n * job.k;
  if (Status s = to_log(job.coefficients, vectors, scratch); !s.ok()) return s;
  return to_log(job.blocks, blocks, scratch + (vectors + 255) / 256 * 256);
}

Status prepared(Context& context, Job& job, bool zero_remapped) {
  std::uint8_t* scratch = nullptr;
  if (Status s = context.scratch(table_scratch_bytes(job), scratch); !s.ok()) return s;
  return preprocess(context, job, zero_remapped, scratch);
}

template <class Table>
Status launch(Context& context, const Job& job, void (*kernel)(Job, Table), Table table,
              const char* name) {
  kernel<<<context.device().multiprocessors, kThreads, 0, queue(context)>>>(job, table);
  return launched(name);
}

// Brings both matrices to the log domain, then multiplies. `zero_remapped`: by which log table.
template <class Table>
Status multiply_logs(Context& context, Job job, bool zero_remapped, void (*kernel)(Job, Table),
                     Table table, const char* name) {
  if (Status s = prepared(context, job, zero_remapped); !s.ok()) return s;
  return launch(context, job, kernel, table, name);
}

}  // namespace

std::size_t table_scratch_bytes(const Job& job) {
  return (std::size_t(job.segments) * job.m * coefficient_pitch(job.n) + 255) / 256 * 256 +
         std::size_t(job.segments) * job.n * job.k;
}

Status encode_table0(Context& context, const Job& job) {
  const std::size_t words = std::size_t(job.m) * (job.k / 4);
  envelope_encode_table0<<<grid_for(job, words, kBaselineThreads), kBaselineThreads, 0,
                           queue(context)>>>(job, context.tables().log_ff, context.tables().exp);
  return launched("envelope_encode_table0");
}

Status encode_table1(Context& context, const Job& job) {
  return multiply_logs(context, job, false, envelope_encode_table1, context.tables().exp,
                       "envelope_encode_table1");
}

Status encode_table2(Context& context, const Job& job) {
  return multiply_logs(context, job, false, envelope_encode_table2, context.tables().exp,
                       "envelope_encode_table2");
}

Status encode_table3(Context& context, const Job& job) {
  return multiply_logs(context, job, true, envelope_encode_table3, context.tables().exp_shifted,
                       "envelope_encode_table3");
}

Status encode_table4_texture(Context& context, const Job& job) {
  return multiply_logs(context, job, true, envelope_encode_table4_texture,
                       context.tables().exp_shifted_texture, "envelope_encode_table4_texture");
}

Status encode_table4_read_only(Context& context, const Job& job) {
  return multiply_logs(context, job, true, envelope_encode_table4_read_only,
                       context.tables().exp_shifted, "envelope_encode_table4_read_only");
}

Status launch_table5(Context& context, const Job& job, std::uint8_t* scratch) {
  Job logs = job;
  if (Status s = preprocess(context, logs, true, scratch); !s.ok()) return s;
  return launch(context, logs, envelope_encode_table5, context.tables().exp_shifted,
                "envelope_encode_table5");
}

Status encode_table5(Context& context, const Job& job) {
  std::uint8_t* scratch = nullptr;
  if (Status s = context.scratch(table_scratch_bytes(job), scratch); !s.ok()) return s;
  return launch_table5(context, job, scratch);
}

Status encode_conflict_free(Context& context, const Job& job) {
  Job logs = job;
  if (Status s = prepared(context, logs, true); !s.ok()) return s;
  if (Status s = checked(
          cudaFuncSetAttribute(envelope_encode_conflict_free,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, kConflictFreeBytes),
          "cudaFuncSetAttribute");
      !s.ok()) {
    return s;
  }
  envelope_encode_conflict_free<<<context.device().multiprocessors, kThreads, kConflictFreeBytes,
                                  queue(context)>>>(logs, context.tables().exp_shifted);
  return launched("envelope_encode_conflict_free");
}

}  // namespace firn::cuda::papers
