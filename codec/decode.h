// Decoding a generation: from n innovative coded blocks back to the n source blocks.
//   X = C^-1 Y,  C: n x n coding vectors, Y: n x k payloads, X: n x k source blocks
// `decode_generation` is the bulk form (one inversion, one blocked product) that the peer uses.
// `ProgressiveDecoder` takes blocks one at a time (papers: progressive Gauss-Jordan) and can spread
// the work on payloads over their arrival; its textbook mode eliminates payload by payload and is
// the reference in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/kernels.h"
#include "codec/span_basis.h"

namespace firn::codec {

// Inverts the row-major n x n matrix. False if it is singular (`out` is then undefined). `out` must
// not overlap `matrix`.
bool invert_matrix(std::span<const std::uint8_t> matrix, std::size_t n, std::span<std::uint8_t> out,
                   const Kernels& kernels = codec::kernels());

// vectors: n pointers to n coefficients each; payloads: n pointers to `block_bytes` bytes each;
// out: n * block_bytes bytes in source-block order, not overlapping any payload. Unit vectors
// (systematic blocks) cost a copy. False if the vectors do not have full rank.
bool decode_generation(const Kernels& kernels, std::size_t n, std::size_t block_bytes,
                       std::span<const std::uint8_t* const> vectors,
                       std::span<const std::uint8_t* const> payloads, std::span<std::uint8_t> out);

enum class Innovation { kInnovative, kRedundant, kComplete /* innovative, and the last needed */ };

class ProgressiveDecoder {
 public:
  enum class Mode {
    kBulk,      // payloads are kept as they come; decode() does all the work in one product
    kPanel,     // blocked Gauss-Jordan: every few blocks the payloads are brought to the state that
                // the vectors already have, so that little is left to do after the last block
    kTextbook,  // Gauss-Jordan on [C | x] as each block arrives
  };
  ProgressiveDecoder(std::size_t generation_size, std::size_t block_bytes, Mode mode = Mode::kBulk,
                     const Kernels& kernels = codec::kernels());

  std::size_t rank() const { return basis_.rank(); }
  bool complete() const { return basis_.full(); }

  // vector: n coefficients, payload: k bytes; both are copied.
  Innovation add(std::span<const std::uint8_t> vector, std::span<const std::uint8_t> payload);

  // Writes n * k bytes in source-block order. The decoder must be complete.
  void decode(std::span<std::uint8_t> out) const;

  // Panel mode, complete: the n * k decoded bytes where they stand, in source-block order; decode()
  // copies them.
  std::span<const std::uint8_t> decoded() const { return reduced_; }

 private:
  void eliminate_last();
  void eliminate_panel();

  std::size_t n_, k_;
  Mode mode_;
  const Kernels& kernels_;
  SpanBasis basis_;
  std::vector<std::vector<std::uint8_t>> vectors_, payloads_;
  std::vector<std::size_t> pivot_of_row_;  // textbook mode

  // Panel mode: what the rows 0..settled_-1 give once their vectors are in reduced form, n * k
  // bytes; the row whose pivot is column c stands at c * k. And that form, rows x n.
  std::vector<std::uint8_t> reduced_;
  std::vector<std::uint8_t> reduced_vectors_;
  std::size_t settled_ = 0;
};

}  // namespace firn::codec
