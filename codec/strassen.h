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
// by level. rows and columns are multiples of 2^levels.
struct Left {
  std::size_t rows = 0, columns = 0;
  std::vector<std::uint8_t> coefficients;  // at the last level only
  std::vector<Left> parts;                 // else one for each of the products, see Right
};

// Prepares a left factor, given row-major.
Left prepare_left(std::vector<std::uint8_t> matrix, std::size_t rows, std::size_t columns,
                  unsigned levels);

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
