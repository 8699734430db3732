#include "codec/parallel.h"

#include <algorithm>
#include <atomic>
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

// Multiply-adds that make a piece large enough: some microseconds with the fastest kernels, several
// times what it costs to hand a piece to a thread that is awake.
constexpr double kPieceMacs = 4e6;
// More pieces than threads, so that a thread that is woken late or held up leaves the others more.
constexpr std::size_t kPiecesPerThread = 8;

// Every thread takes pieces until none is left: make(piece, scratch).
template <class Make>
void make_pieces(Executor& executor, std::size_t pieces, const Make& make) {
  std::atomic<std::size_t> next{0};
  executor.run(std::min(executor.threads(), pieces), [&](std::size_t) {
    Product::Scratch scratch;
    for (std::size_t i = next++; i < pieces; i = next++) make(i, scratch);
  });
}

}  // namespace

void multiply_rows(Executor& executor, const Kernels& kernels, std::uint8_t* const* out,
                   std::size_t rows, const std::uint8_t* const* in, std::size_t count,
                   const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes,
                   Partition partition) {
  const std::size_t threads = executor.threads();
  const double macs =
      static_cast<double>(rows) * static_cast<double>(count) * static_cast<double>(bytes);
  if (partition == Partition::kChosen && (threads == 1 || macs < 2 * kPieceMacs)) {
    multiply_rows(kernels, out, rows, in, count, coefficients, stride, bytes);
    return;
  }
  if (partition == Partition::kChosen) {
    const bool long_rows = bytes >= 4 * kernels.strip_bytes * threads;
    const bool many_rows = rows >= 2 * kTileRows * threads;
    partition = long_rows || !many_rows ? Partition::kPartitioned : Partition::kFullBlock;
  }
  if (partition == Partition::kFullBlock) {
    make_pieces(executor, threads, [&](std::size_t i, Product::Scratch&) {
      const Share share = share_of(rows, kTileRows, threads, i);
      if (share.begin == share.end) return;
      multiply_rows(kernels, out + share.begin, share.end - share.begin, in, count,
                    coefficients + share.begin * stride, stride, bytes);
    });
    return;
  }
  const Product product(kernels, rows, count, coefficients, stride, bytes / threads);
  const std::size_t unit =
      bytes >= product.unit_bytes() * threads ? product.unit_bytes() : kLineBytes;
  const std::size_t pieces = std::min(
      std::clamp(static_cast<std::size_t>(macs / kPieceMacs), threads, kPiecesPerThread * threads),
      (bytes + unit - 1) / unit);
  make_pieces(executor, pieces, [&](std::size_t i, Product::Scratch& scratch) {
    const Share share = share_of(bytes, unit, pieces, i);
    product.multiply(out, in, share.begin, share.end, scratch);
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
