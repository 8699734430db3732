// Strassen's algorithm in Winograd's form over blocks of packed strips: the arithmetic behind large
// products in codec/product.cc, which packs, unpacks and chooses.
// Source: S. Winograd, "On multiplication of 2 x 2 matrices", Linear Algebra Appl. 4 (1971).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "codec/kernels.h"

namespace firn::codec {

// The left factor (rows x columns) with the sums that Winograd's form takes of its quarters, level
// by level. Only sums are made; quarters are read where they lie in the matrix.
struct Left {
  std::size_t rows, columns;
  const std::uint8_t* coefficients;  // row-major, rows `stride` bytes apart
  std::size_t stride;
  std::vector<Left> parts;  // at the last level none, else one for each of the seven products

  // rows and columns are multiples of 2^levels. `matrix` and `sums`, which has room for
  // sum_bytes(), are used as long as this is.
  Left(const std::uint8_t* matrix, std::size_t stride, std::size_t rows, std::size_t columns,
       unsigned levels, std::uint8_t* sums);
  static std::size_t sum_bytes(std::size_t rows, std::size_t columns, unsigned levels);
};

// A block of rows x (panels * strip_bytes): panels stand `distance` bytes apart, the rows of one
// panel one behind the other.
struct Block {
  std::uint8_t* bytes;
  std::size_t distance;

  Block at(std::size_t panel, std::size_t row, std::size_t strip) const {
    return {bytes + panel * distance + row * strip, distance};
  }
};

// Products of blocks over 2^levels panels; scratch is cut off the front of one piece.
class Strassen {
 public:
  explicit Strassen(const Kernels& kernels) : kernels_(kernels), strip_(kernels.strip_bytes) {}

  // Scratch bytes that multiply() needs.
  static std::size_t scratch_bytes(std::size_t rows, std::size_t columns, unsigned levels,
                                   std::size_t strip);

  // out = left * right, or out += left * right. `scratch` and the blocks are aligned to 64 bytes
  // and do not overlap.
  void multiply(const Left& left, Block right, Block out, bool add, unsigned levels,
                std::uint8_t* scratch) const;

 private:
  void multiply_last(const Left& left, Block right, Block out, bool add) const;
  // to = the sum of the terms, panel by panel; `to` may be the first of them.
  void add_up(Block to, std::initializer_list<Block> terms, std::size_t panels,
              std::size_t bytes) const;

  const Kernels& kernels_;
  std::size_t strip_;
};

}  // namespace firn::codec
