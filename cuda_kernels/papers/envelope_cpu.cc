// Pushing the Envelope, 5.1.2, end: "to be fair to the CPU-based scheme", the same logarithmic form
// on the CPU, with source blocks and coefficients preprocessed. The paper finds it up to 43 %
// slower than its SIMD loop. Coded blocks are divided among threads whole (5.3, full-block
// encoding).
#include <array>
#include <vector>

#include "codec/gf256.h"
#include "cuda_kernels/papers/launch.h"

namespace firn::cuda::papers {
namespace {

// log(0) is 0 and all others are one more; exp is shifted to match.
struct LogTables {
  std::array<std::uint8_t, 256> log{};
  std::array<std::uint8_t, 512> exp{};
};

LogTables make_tables() {
  LogTables tables;
  std::uint8_t power = 1;
  for (std::size_t e = 0; e < 510; ++e) {
    tables.exp[e + 2] = power;
    if (e < 255) tables.log[power] = static_cast<std::uint8_t>(e + 1);
    power = codec::gf_multiply(power, 2);
  }
  return tables;
}

std::vector<std::uint8_t> to_log(codec::Executor& executor, const LogTables& tables,
                                 const std::uint8_t* bytes, std::size_t count) {
  std::vector<std::uint8_t> logs(count);
  constexpr std::size_t kPiece = 65536;
  executor.run((count + kPiece - 1) / kPiece, [&](std::size_t piece) {
    const std::size_t end = std::min(count, (piece + 1) * kPiece);
    for (std::size_t i = piece * kPiece; i < end; ++i) logs[i] = tables.log[bytes[i]];
  });
  return logs;
}

// out = one coded block.
void combine_logs(const LogTables& tables, const std::uint8_t* vector, const std::uint8_t* blocks,
                  std::size_t n, std::size_t k, std::uint8_t* out) {
  std::fill_n(out, k, std::uint8_t{0});
  for (std::size_t j = 0; j < n; ++j) {
    const std::size_t log_c = vector[j];
    if (log_c == 0) continue;
    const std::uint8_t* block = blocks + j * k;
    for (std::size_t i = 0; i < k; ++i) {
      if (block[i] != 0) out[i] ^= tables.exp[log_c + block[i]];
    }
  }
}

}  // namespace

Status encode_log_domain_on_cpu(Context& context, const Job& job) {
  static const LogTables tables = make_tables();
  const auto n = static_cast<std::size_t>(job.n), m = static_cast<std::size_t>(job.m);
  const auto k = static_cast<std::size_t>(job.k), segments = static_cast<std::size_t>(job.segments);
  const auto pitch = static_cast<std::size_t>(coefficient_pitch(job.n));
  codec::Executor& executor = context.executor();
  const auto vectors = to_log(executor, tables, job.host_coefficients, segments * m * pitch);
  const auto blocks = to_log(executor, tables, job.host_blocks, segments * n * k);
  executor.run(segments * m, [&](std::size_t row) {
    combine_logs(tables, vectors.data() + row * pitch, blocks.data() + row / m * n * k, n, k,
                 job.host_out + row * k);
  });
  return {};
}

}  // namespace firn::cuda::papers
