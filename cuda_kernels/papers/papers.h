// The algorithms of the papers that led here, each kept runnable by its name next to the production
// kernels of batch/batch.h, which are faster than all of them. They document how the field got
// where it is and anchor the benchmark's figures; the peer does not link them.
//
//   Nuclei      H. Shojania, B. Li, X. Wang, "Nuclei: GPU-accelerated Many-core Network Coding",
//               2009
//   Envelope    H. Shojania, B. Li, "Pushing the Envelope: Extreme Network Coding on the GPU", 2009
//   Vingelmann  P. Vingelmann, F. H. P. Fitzek, "Implementation of Random Linear Network Coding
//               using NVIDIA's CUDA toolkit", 2009
//   Tang        S. Tang, "Parallelizing network coding on manycore GPU-accelerated system with
//               optimization", 2014
//
// A segment is a generation (the first two papers' word). n, m, k as everywhere: source blocks in a
// segment, coded blocks, bytes in a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cuda_kernels/runtime/status.h"

namespace firn::cuda::papers {

class Context;

enum class Kind {
  kMultiply,      // Nuclei's benchmark without memory: out is what memory_free_word() says
  kCoefficients,  // out[s] = C[s] from the seed
  kEncode,        // out[s] = C[s] B[s]
  kDecode,        // out[s] = X with C[s] X = Y[s], in source-block order
};

// One batch. Matrices are row-major, segment follows segment. Rows of coefficients are
// coefficient_pitch() bytes apart, padded with zeros; blocks have no gaps. Outputs overlap nothing.
struct Job {
  int segments = 1;  // 1..65535
  int n = 1;         // 1..1024
  int m = 1;         // coded blocks of each segment: made (encode), received (decode)
  int k = 4;         // a multiple of 4: the papers' threads work on words

  // On the device, 4-byte aligned.
  const std::uint8_t* coefficients = nullptr;  // segments x m rows
  const std::uint8_t* blocks = nullptr;        // encode: segments x n x k; decode: segments x m x k
  std::uint8_t* out = nullptr;  // segments x m x k; decode: segments x n x k; coefficients: C
  // The same in host memory, for algorithms in which the CPU takes part: those read the first two,
  // and those with kResultOnHost write the third (pinned, or copies wait).
  const std::uint8_t* host_coefficients = nullptr;
  const std::uint8_t* host_blocks = nullptr;
  std::uint8_t* host_out = nullptr;

  // Coefficients made on the GPU: row r of segment s is the first n bytes of
  // codec::CoefficientStream(seed, s * m + r).
  std::uint64_t seed = 0;
  double gpu_share = 0.5;  // mixed encoding: the part of the coded blocks that the GPU makes
  bool first_stage_only =
      false;             // multi-segment decode: inversion alone, for its share of the time
  int* ranks = nullptr;  // decode: host memory, one per segment, set when run() returns

  // kMultiply: all coefficients, and how many words of a block one thread makes (0: all of them, as
  // in the paper).
  std::uint32_t factor = 0xff;
  int words_per_thread = 0;
};

constexpr int coefficient_pitch(int n) {
  return (n + 3) / 4 * 4;
}

// kMultiply's input, made on the fly: word `word` of source block `source` as coded block `row`
// sees it. out[row][word] = sum over sources of factor * this, byte by byte.
constexpr std::uint32_t memory_free_word(std::uint32_t row, std::uint32_t source,
                                         std::uint32_t word) {
  return row * 0x9e3779b9u + word * 0x85ebca6bu + (source + 1) * 0xc2b2ae35u;
}

enum Trait : unsigned {
  kNoTrait = 0,
  kResultOnHost = 1,     // writes host_out, not out
  kUsesHostInput = 2,    // reads host_coefficients or host_blocks
  kOwnCoefficients = 4,  // makes them from the seed: those of the job must be the same
  kBinary = 8,           // coefficients are 0 or 1
  kSquare = 16,          // decoding takes m == n only
  kMatrixInShared = 32,  // n is bounded by shared memory: generation_size_max()
  kOnCpu = 64,           // no kernel at all
};

struct Algorithm {
  std::string_view name;     // "nuclei.encode.fine"
  std::string_view section;  // where the paper describes it
  std::string_view kernels;  // as a profile shows them
  std::string_view what;
  Kind kind;
  unsigned traits;
  // Queues the work on the context's stream; returns when it is done if the host takes part or a
  // decoder reports ranks. A singular segment has a rank below n, and an undefined output.
  Status (*launch)(Context&, const Job&);
};

// All of them, by paper and section.
std::span<const Algorithm> algorithms();
// nullptr if there is none.
const Algorithm* find(std::string_view name);

// The largest n that this algorithm takes on the context's device.
int generation_size_max(const Algorithm& algorithm, const Context& context);

// Checks the job against what the algorithm takes, then launches it.
Status run(Context& context, const Algorithm& algorithm, const Job& job);

}  // namespace firn::cuda::papers
