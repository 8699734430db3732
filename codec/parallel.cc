#include "codec/parallel.h"

#include <algorithm>
#include <vector>

#include "codec/decode.h"
#include "codec/product.h"

namespace firn::codec {
namespace {

// The i-th of `parts` even shares of 0..total, each beginning at a multiple of `unit`.
struct Share {
  std::size_t begin, end;
};

Share share_of(std::size_t total, std::size_t unit, std::size_t parts, std::size_t i) {
  const std::size_t units = (total + unit - 1) / unit;
  return {std::min(total, units * i / parts * unit),
          std::min(total, units * (i + 1) / parts * unit)};
}

constexpr std::size_t kTileRows = 4;    // rows that the kernels make together
constexpr std::size_t kLineBytes = 64;  // pieces never share a cache line of an aligned row

}  // namespace

void multiply_rows(Executor& executor, const Kernels& kernels, std::uint8_t* const* out,
                   std::size_t rows, const std::uint8_t* const* in, std::size_t count,
                   const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes,
                   Partition partition) {
  const std::size_t threads = executor.threads();
  if (partition == Partition::kChosen) {
    const bool long_rows = bytes >= 4 * kernels.strip_bytes * threads;
    const bool many_rows = rows >= 2 * kTileRows * threads;
    partition = long_rows || !many_rows ? Partition::kPartitioned : Partition::kFullBlock;
  }
  if (partition == Partition::kFullBlock) {
    executor.run(threads, [&](std::size_t i) {
      const Share share = share_of(rows, kTileRows, threads, i);
      if (share.begin == share.end) return;
      multiply_rows(kernels, out + share.begin, share.end - share.begin, in, count,
                    coefficients + share.begin * stride, stride, bytes);
    });
    return;
  }
  const std::size_t unit =
      bytes >= kernels.strip_bytes * threads ? kernels.strip_bytes : kLineBytes;
  executor.run(threads, [&](std::size_t i) {
    const Share share = share_of(bytes, unit, threads, i);
    if (share.begin == share.end) return;
    std::vector<std::uint8_t*> piece_out(out, out + rows);
    std::vector<const std::uint8_t*> piece_in(in, in + count);
    for (auto& row : piece_out) row += share.begin;
    for (auto& row : piece_in) row += share.begin;
    multiply_rows(kernels, piece_out.data(), rows, piece_in.data(), count, coefficients, stride,
                  share.end - share.begin);
  });
}

bool decode_generations(Executor& executor, const Kernels& kernels,
                        std::span<GenerationWork> generations) {
  executor.run(generations.size(), [&](std::size_t i) {
    GenerationWork& work = generations[i];
    work.decoded = decode_generation(kernels, work.generation_size, work.block_bytes, work.vectors,
                                     work.payloads, work.out);
  });
  return std::all_of(generations.begin(), generations.end(),
                     [](const GenerationWork& work) { return work.decoded; });
}

}  // namespace firn::codec
