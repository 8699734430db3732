// Work for several threads: many coded blocks, one urgent block, many generations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/executor.h"
#include "codec/kernels.h"

namespace firn::codec {

// How the blocks of a product are divided among threads (Shojania and Li, "Pushing the Envelope",
// 2009, 5.3: full-block and partitioned-block encoding).
enum class Partition {
  kFullBlock,    // every thread makes some of the rows, each from end to end
  kPartitioned,  // every thread makes a piece of every row: also for a single urgent block
  kChosen,       // pieces where rows are long enough for every thread, else whole rows
};

// multiply_rows (codec/product.h) on the executor's threads.
void multiply_rows(Executor& executor, const Kernels& kernels, std::uint8_t* const* out,
                   std::size_t rows, const std::uint8_t* const* in, std::size_t count,
                   const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes,
                   Partition partition = Partition::kChosen);

// One generation to decode; see decode_generation for the shapes.
struct GenerationWork {
  std::size_t generation_size, block_bytes;
  std::span<const std::uint8_t*const> vectors, payloads;
  std::span<std::uint8_t> out;
  bool decoded = false;  // set by decode_generations: false if the vectors lack full rank
};

// Decodes all, one generation on one thread at a time. True if all were decoded.
bool decode_generations(Executor& executor, const Kernels& kernels,
                        std::span<GenerationWork> generations);

}  // namespace firn::codec
