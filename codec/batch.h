// Many coded blocks at once, from source blocks or from received rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/executor.h"
#include "codec/kernels.h"

namespace firn::codec {

// Payloads of `rows` coded blocks: out[r] = sum_j vectors[r * n + j] * in[j] over n = in.size()
// blocks of `block_bytes` bytes. Vectors with few nonzero coefficients cost only those. `out` rows
// overlap nothing.
void encode_batch(Executor& executor, const Kernels& kernels,
                  std::span<const std::uint8_t* const> in, std::size_t block_bytes,
                  std::span<const std::uint8_t> vectors, std::span<std::uint8_t* const> out);

// The rows that a relay holds: their vectors (n coefficients each) and payloads.
struct HeldRows {
  std::size_t generation_size, block_bytes;
  std::span<const std::uint8_t*const> vectors, payloads;  // as many of both
};

// Fresh blocks for a relay: the same mix of vectors and of payloads. mixes holds one factor for
// each held row, for each of the blocks (random_mix, sparse_mix).
//   vectors_out[r] = sum_j mixes[r * held + j] * vectors[j], payloads_out likewise
void recode_batch(Executor& executor, const Kernels& kernels, const HeldRows& held,
                  std::span<const std::uint8_t> mixes, std::span<std::uint8_t* const> vectors_out,
                  std::span<std::uint8_t* const> payloads_out);

}  // namespace firn::codec
