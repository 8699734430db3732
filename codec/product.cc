#include "codec/product.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace firn::codec {
namespace {

// Levels that pay, by the smaller of rows and sources: the seven products of a level must save more
// than its sums cost. Measured; see docs/codec.md.
unsigned levels_that_pay(std::size_t smaller) {
  return smaller >= 480 ? 2 : 0;
}

// The left factor (rows x columns) with the sums that Winograd's form takes of its quarters, level
// by level. rows and columns are multiples of 2^levels.
struct Left {
  std::size_t rows = 0, columns = 0;
  std::vector<std::uint8_t> coefficients;  // at the last level only
  std::vector<Left> parts;                 // else one for each of the products, see Right
};

using Matrix = std::vector<std::uint8_t>;

Matrix quarter_of(const Matrix& matrix, std::size_t rows, std::size_t columns, std::size_t down,
                  std::size_t right) {
  Matrix quarter;
  quarter.reserve(rows / 2 * (columns / 2));
  for (std::size_t r = 0; r < rows / 2; ++r) {
    const auto* from = &matrix[(down * rows / 2 + r) * columns + right * columns / 2];
    quarter.insert(quarter.end(), from, from + columns / 2);
  }
  return quarter;
}

Matrix sum_of(Matrix a, const Matrix& b) {
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::bit_xor<>());
  return a;
}

Left prepare_left(Matrix matrix, std::size_t rows, std::size_t columns, unsigned levels) {
  Left left{rows, columns, {}, {}};
  if (levels == 0) {
    left.coefficients = std::move(matrix);
    return left;
  }
  const auto quarter = [&](std::size_t down, std::size_t right) {
    return quarter_of(matrix, rows, columns, down, right);
  };
  Matrix a11 = quarter(0, 0), a12 = quarter(0, 1), a21 = quarter(1, 0), a22 = quarter(1, 1);
  Matrix s1 = sum_of(a21, a22), s2 = sum_of(s1, a11), s3 = sum_of(a11, a21), s4 = sum_of(a12, s2);
  for (Matrix* part : {&a11, &a12, &s4, &a22, &s1, &s2, &s3}) {
    left.parts.push_back(prepare_left(std::move(*part), rows / 2, columns / 2, levels - 1));
  }
  return left;
}

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
                                   std::size_t strip) {
    std::size_t bytes = 0;
    for (; levels > 0; --levels) {
      rows /= 2, columns /= 2;
      bytes += 2 * (rows + columns) * (strip << (levels - 1));
    }
    return bytes;
  }

  // out = left * right, or out += left * right. The order of products keeps only four blocks of
  // sums alive and lets three of the seven sums be made by products that add.
  void multiply(const Left& left, Block right, Block out, bool add, unsigned levels,
                std::uint8_t* scratch) const {
    if (levels == 0) {
      multiply_last(left, right, out, add);
      return;
    }
    const std::size_t panels = std::size_t{1} << (levels - 1);
    const std::size_t rows = left.rows / 2, columns = left.columns / 2;
    const Block b11 = right, b12 = right.at(panels, 0, strip_);
    const Block b21 = right.at(0, columns, strip_), b22 = right.at(panels, columns, strip_);
    const Block c11 = out, c12 = out.at(panels, 0, strip_);
    const Block c21 = out.at(0, rows, strip_), c22 = out.at(panels, rows, strip_);
    const auto take = [&](std::size_t block_rows) {
      const Block block{scratch, block_rows * strip_};
      scratch += panels * block.distance;
      return block;
    };
    const Block t = take(columns), u = take(columns), w = take(rows), v = take(rows);
    const auto part = [&](std::size_t which, Block from, Block to, bool adding) {
      multiply(left.parts[which], from, to, adding, levels - 1, scratch);
    };
    const auto sum = [&](Block to, std::initializer_list<Block> terms, std::size_t block_rows) {
      add_up(to, terms, panels, block_rows * strip_);
    };

    sum(t, {b12, b11}, columns);  // T1 = B12 - B11
    sum(u, {b22, t}, columns);    // T2 = B22 - T1
    part(0, b11, w, false);       // W = A11 B11
    add ? sum(c11, {c11, w}, rows) : sum(c11, {w}, rows);
    part(1, b21, c11, true);  // C11 = A11 B11 + A12 B21
    part(5, u, w, true);      // W += S2 T2
    part(4, t, v, false);     // V = S1 T1
    add ? sum(c12, {c12, w, v}, rows) : sum(c12, {w, v}, rows);
    part(2, b22, c12, true);                                     // C12 = W + V + S4 B22
    sum(t, {b22, b12}, columns);                                 // T3 = B22 - B12
    sum(u, {u, b21}, columns);                                   // T4 = T2 - B21
    part(6, t, w, true);                                         // W += S3 T3
    add ? sum(c22, {c22, w, v}, rows) : sum(c22, {w, v}, rows);  // C22 = W + V
    add ? sum(c21, {c21, w}, rows) : sum(c21, {w}, rows);
    part(3, u, c21, true);  // C21 = W - A22 T4
  }

 private:
  void multiply_last(const Left& left, Block right, Block out, bool add) const {
    std::vector<std::uint8_t*> rows(left.rows);
    for (std::size_t r = 0; r < left.rows; ++r) rows[r] = out.bytes + r * strip_;
    kernels_.combine_panel(rows.data(), left.rows, right.bytes, left.columns,
                           left.coefficients.data(), left.columns, add);
  }

  // to = the sum of the terms, panel by panel; `to` may be the first of them.
  void add_up(Block to, std::initializer_list<Block> terms, std::size_t panels,
              std::size_t bytes) const {
    static constexpr std::uint8_t kOnes[] = {1, 1, 1};
    for (std::size_t p = 0; p < panels; ++p) {
      const std::uint8_t* in[3];
      std::size_t count = 0;
      for (const Block& term : terms) in[count++] = term.bytes + p * term.distance;
      std::uint8_t* out = to.bytes + p * to.distance;
      if (count == 1) {
        std::memcpy(out, in[0], bytes);
      } else if (in[0] == out) {
        for (std::size_t j = 1; j < count; ++j) kernels_.multiply_add(out, in[j], 1, bytes);
      } else {
        kernels_.combine(out, in, kOnes, count, bytes);
      }
    }
  }

  const Kernels& kernels_;
  std::size_t strip_;
};

struct FreeAligned {
  void operator()(std::uint8_t* bytes) const { ::operator delete[](bytes, std::align_val_t{64}); }
};
using AlignedBytes = std::unique_ptr<std::uint8_t[], FreeAligned>;

AlignedBytes aligned_bytes(std::size_t count) {
  return AlignedBytes(static_cast<std::uint8_t*>(::operator new[](count, std::align_val_t{64})));
}

// The part of the product that is whole chunks of 2^levels strips; returns how many bytes of each
// row that is. Rows and sources are filled up with zeros to multiples of 2^levels.
std::size_t multiply_chunks(const Kernels& kernels, std::uint8_t* const* out, std::size_t rows,
                            const std::uint8_t* const* in, std::size_t count,
                            const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes,
                            unsigned levels) {
  const std::size_t parts = std::size_t{1} << levels, strip = kernels.strip_bytes;
  const std::size_t whole = bytes - bytes % (parts * strip);
  const std::size_t full_rows = (rows + parts - 1) / parts * parts;
  const std::size_t full_count = (count + parts - 1) / parts * parts;
  Matrix matrix(full_rows * full_count);
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy_n(coefficients + r * stride, count, &matrix[r * full_count]);
  }
  const Left left = prepare_left(std::move(matrix), full_rows, full_count, levels);

  const std::size_t right_bytes = full_count * parts * strip, out_bytes = full_rows * parts * strip;
  const AlignedBytes memory = aligned_bytes(
      right_bytes + out_bytes + Strassen::scratch_bytes(full_rows, full_count, levels, strip));
  const Block right{memory.get(), full_count * strip};
  const Block result{memory.get() + right_bytes, full_rows * strip};
  std::uint8_t* scratch = memory.get() + right_bytes + out_bytes;
  for (std::size_t p = 0; p < parts; ++p) {
    std::memset(right.at(p, count, strip).bytes, 0, (full_count - count) * strip);
  }

  const Strassen strassen(kernels);
  for (std::size_t chunk = 0; chunk < whole; chunk += parts * strip) {
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t p = 0; p < parts; ++p) {
        std::memcpy(right.at(p, j, strip).bytes, in[j] + chunk + p * strip, strip);
      }
    }
    strassen.multiply(left, right, result, false, levels, scratch);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t p = 0; p < parts; ++p) {
        std::memcpy(out[r] + chunk + p * strip, result.at(p, r, strip).bytes, strip);
      }
    }
  }
  return whole;
}

}  // namespace

void multiply_rows(const Kernels& kernels, std::uint8_t* const* out, std::size_t rows,
                   const std::uint8_t* const* in, std::size_t count,
                   const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes,
                   unsigned levels) {
  while (levels > 0 &&
         (std::min(rows, count) >> levels == 0 || bytes / kernels.strip_bytes >> levels == 0)) {
    --levels;
  }
  std::size_t done = 0;
  if (levels > 0) {
    done = multiply_chunks(kernels, out, rows, in, count, coefficients, stride, bytes, levels);
    if (done == bytes) return;
  }
  if (done == 0) {
    kernels.combine_rows(out, rows, in, count, coefficients, stride, bytes);
    return;
  }
  std::vector<std::uint8_t*> rest_out(out, out + rows);
  std::vector<const std::uint8_t*> rest_in(in, in + count);
  for (auto& row : rest_out) row += done;
  for (auto& row : rest_in) row += done;
  kernels.combine_rows(rest_out.data(), rows, rest_in.data(), count, coefficients, stride,
                       bytes - done);
}

void multiply_rows(const Kernels& kernels, std::uint8_t* const* out, std::size_t rows,
                   const std::uint8_t* const* in, std::size_t count,
                   const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes) {
  multiply_rows(kernels, out, rows, in, count, coefficients, stride, bytes,
                levels_that_pay(std::min(rows, count)));
}

}  // namespace firn::codec
