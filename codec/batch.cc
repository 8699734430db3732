#include "codec/batch.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "codec/parallel.h"

namespace firn::codec {
namespace {

// Below this share of nonzero coefficients, row by row over the nonzero ones is faster than the
// blocked product over all: a single row runs at about a quarter of the product's rate.
constexpr std::size_t kSparseShare = 5;

bool is_sparse(std::span<const std::uint8_t> coefficients) {
  const auto zeros = std::count(coefficients.begin(), coefficients.end(), 0);
  return (coefficients.size() - static_cast<std::size_t>(zeros)) * kSparseShare <
         coefficients.size();
}

void combine_nonzero(const Kernels& kernels, std::uint8_t* out,
                     std::span<const std::uint8_t* const> in,
                     std::span<const std::uint8_t> coefficients, std::size_t bytes) {
  std::vector<const std::uint8_t*> terms;
  std::vector<std::uint8_t> factors;
  for (std::size_t j = 0; j < in.size(); ++j) {
    if (coefficients[j] == 0) continue;
    terms.push_back(in[j]);
    factors.push_back(coefficients[j]);
  }
  kernels.combine(out, terms.data(), factors.data(), terms.size(), bytes);
}

}  // namespace

void encode_batch(Executor& executor, const Kernels& kernels,
                  std::span<const std::uint8_t* const> in, std::size_t block_bytes,
                  std::span<const std::uint8_t> vectors, std::span<std::uint8_t* const> out) {
  const std::size_t n = in.size();
  assert(vectors.size() == n * out.size());
  if (is_sparse(vectors)) {
    executor.run(out.size(), [&](std::size_t r) {
      combine_nonzero(kernels, out[r], in, vectors.subspan(r * n, n), block_bytes);
    });
    return;
  }
  multiply_rows(executor, kernels, out.data(), out.size(), in.data(), n, vectors.data(), n,
                block_bytes);
}

void recode_batch(Executor& executor, const Kernels& kernels, const HeldRows& held,
                  std::span<const std::uint8_t> mixes, std::span<std::uint8_t* const> vectors_out,
                  std::span<std::uint8_t* const> payloads_out) {
  assert(held.vectors.size() == held.payloads.size());
  assert(vectors_out.size() == payloads_out.size());
  SerialExecutor here;  // vectors are short
  encode_batch(here, kernels, held.vectors, held.generation_size, mixes, vectors_out);
  encode_batch(executor, kernels, held.payloads, held.block_bytes, mixes, payloads_out);
}

}  // namespace firn::codec
