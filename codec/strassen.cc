#include "codec/strassen.h"

#include <algorithm>
#include <cstring>

namespace firn::codec {
namespace {

// The four sums of one row of each quarter. (__restrict: so that compilers make vectors of it.)
void add_rows_of_quarters(const std::uint8_t* __restrict a11, const std::uint8_t* __restrict a12,
                          const std::uint8_t* __restrict a21, const std::uint8_t* __restrict a22,
                          std::uint8_t* __restrict s1, std::uint8_t* __restrict s2,
                          std::uint8_t* __restrict s3, std::uint8_t* __restrict s4,
                          std::size_t columns) {
  for (std::size_t j = 0; j < columns; ++j) {
    const auto lower = static_cast<std::uint8_t>(a21[j] ^ a22[j]);
    const auto without_a12 = static_cast<std::uint8_t>(lower ^ a11[j]);
    s1[j] = lower;
    s2[j] = without_a12;
    s3[j] = a11[j] ^ a21[j];
    s4[j] = a12[j] ^ without_a12;
  }
}

}  // namespace

std::size_t Left::sum_bytes(std::size_t rows, std::size_t columns, unsigned levels) {
  if (levels == 0) return 0;
  return rows * columns + 7 * sum_bytes(rows / 2, columns / 2, levels - 1);
}

Left::Left(const std::uint8_t* matrix, std::size_t row_stride, std::size_t row_count,
           std::size_t column_count, unsigned levels, std::uint8_t* sums)
    : rows(row_count), columns(column_count), coefficients(matrix), stride(row_stride) {
  if (levels == 0) return;
  const std::size_t half_rows = rows / 2, half_columns = columns / 2;
  const std::size_t quarter_bytes = half_rows * half_columns;
  std::uint8_t *s1 = sums, *s2 = s1 + quarter_bytes, *s3 = s2 + quarter_bytes;
  std::uint8_t* s4 = s3 + quarter_bytes;
  for (std::size_t r = 0; r < half_rows; ++r) {
    const std::uint8_t *upper = matrix + r * stride, *lower = matrix + (half_rows + r) * stride;
    const std::size_t at = r * half_columns;
    add_rows_of_quarters(upper, upper + half_columns, lower, lower + half_columns, s1 + at, s2 + at,
                         s3 + at, s4 + at, half_columns);
  }
  sums += 4 * quarter_bytes;
  const auto add_part = [&](const std::uint8_t* part, std::size_t part_stride) {
    parts.emplace_back(part, part_stride, half_rows, half_columns, levels - 1, sums);
    sums += sum_bytes(half_rows, half_columns, levels - 1);
  };
  parts.reserve(7);
  const std::uint8_t* lower = matrix + half_rows * stride;
  add_part(matrix, stride);                 // A11
  add_part(matrix + half_columns, stride);  // A12
  add_part(s4, half_columns);
  add_part(lower + half_columns, stride);  // A22
  add_part(s1, half_columns);
  add_part(s2, half_columns);
  add_part(s3, half_columns);
}

std::size_t Strassen::scratch_bytes(std::size_t rows, std::size_t columns, unsigned levels,
                                    std::size_t strip) {
  std::size_t bytes = 0;
  for (; levels > 0; --levels) {
    rows /= 2, columns /= 2;
    bytes += 2 * (rows + columns) * (strip << (levels - 1));
  }
  return bytes;
}

// Winograd's form: seven products and fifteen sums, three of which are made by products that add.
// Where nothing has to be added to `out`, W and V stand in the quarters of it that they end up in.
void Strassen::multiply(const Left& left, Block right, Block out, bool add, unsigned levels,
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
  const Block t = take(columns), u = take(columns);
  const Block w = add ? take(rows) : c21, v = add ? take(rows) : c22;
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
  part(2, b22, c12, true);      // C12 = W + V + S4 B22
  sum(t, {b22, b12}, columns);  // T3 = B22 - B12
  sum(u, {u, b21}, columns);    // T4 = T2 - B21
  part(6, t, w, true);          // W += S3 T3
  if (add) {
    sum(c22, {c22, w, v}, rows);
    sum(c21, {c21, w}, rows);
  } else {
    sum(c22, {c22, w}, rows);
  }                       // C22 = W + V
  part(3, u, c21, true);  // C21 = W - A22 T4
}

void Strassen::multiply_last(const Left& left, Block right, Block out, bool add) const {
  std::vector<std::uint8_t*> rows(left.rows);
  for (std::size_t r = 0; r < left.rows; ++r) rows[r] = out.bytes + r * strip_;
  kernels_.combine_panel(rows.data(), left.rows, right.bytes, left.columns, left.coefficients,
                         left.stride, add);
}

void Strassen::add_up(Block to, std::initializer_list<Block> terms, std::size_t panels,
                      std::size_t bytes) const {
  static constexpr std::uint8_t kOnes[] = {1, 1, 1};
  for (std::size_t p = 0; p < panels; ++p) {
    const std::uint8_t* in[3] = {};
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

}  // namespace firn::codec
