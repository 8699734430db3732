// Inversion of a matrix by Gauss-Jordan elimination in place, a block of columns at a time.
//
// In place: column by column, the identity that would stand beside the matrix takes the place of
// the columns already cleared. So once the columns J of a block are cleared, they hold the columns
// J of the product E of all the block's row operations (E is the identity elsewhere), and the other
// columns X can be brought up to date by one matrix product instead of one pass for each column:
//   X = E X:  rows outside J: X_r + E_rJ X_J;  rows in J: E_JJ X_J
#include <algorithm>
#include <cassert>
#include <cstring>
#include <memory>
#include <vector>

#include "codec/decode.h"
#include "codec/gf256.h"

namespace firn::codec {
namespace {

// One vector of AVX-512: narrower blocks leave more to the products, but their passes cost the
// same.
constexpr std::size_t kBlock = 64;

class Inversion {
 public:
  Inversion(std::uint8_t* matrix, std::size_t n, const Kernels& kernels)
      : kernels_(kernels),
        n_(n),
        exchanged_(n),
        coefficients_(n),
        rows_(n),
        block_(n),
        block_bytes_((n + 1) * kBlock) {
    void* aligned = block_bytes_.data();
    std::size_t room = block_bytes_.size();
    std::align(kBlock, n * kBlock, aligned, room);
    for (std::size_t r = 0; r < n; ++r) {
      rows_[r] = matrix + r * n;
      block_[r] = static_cast<std::uint8_t*>(aligned) + r * kBlock;
    }
  }

  bool run() {
    for (std::size_t first = 0; first < n_; first += kBlock) {
      const std::size_t columns = std::min(kBlock, n_ - first);
      if (!clear_columns(first, columns)) return false;
      update_others(first, columns, 0, first);
      update_others(first, columns, first + columns, n_);
    }
    // The exchanges of rows are undone as exchanges of columns.
    for (std::size_t c = n_; c-- > 0;) {
      if (exchanged_[c] == c) continue;
      for (std::uint8_t* row : rows_) std::swap(row[c], row[exchanged_[c]]);
    }
    return true;
  }

 private:
  // Gauss-Jordan in the block's own columns, in a copy where they stand close together; rows are
  // exchanged whole.
  bool clear_columns(std::size_t first, std::size_t columns) {
    for (std::size_t r = 0; r < n_; ++r) std::copy_n(rows_[r] + first, columns, block_[r]);
    std::uint8_t scaled[kBlock];
    const std::uint8_t* const source[] = {scaled};
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t c = first + j;
      std::size_t pivot = c;
      while (pivot < n_ && block_[pivot][j] == 0) ++pivot;
      if (pivot == n_) return false;
      exchanged_[c] = pivot;
      if (pivot != c) {
        std::swap_ranges(rows_[c], rows_[c] + n_, rows_[pivot]);
        std::swap_ranges(block_[c], block_[c] + columns, block_[pivot]);
      }
      for (std::size_t r = 0; r < n_; ++r) coefficients_[r] = block_[r][j];
      const std::uint8_t inverse = gf_inverse(coefficients_[c]);
      coefficients_[c] = 0;
      block_[c][j] = 1;
      kernels_.multiply(scaled, block_[c], inverse, columns);
      std::copy_n(scaled, columns, block_[c]);
      // In column c the other rows should become 0 + coefficient * inverse, but they still hold the
      // coefficient: adding coefficient * (inverse + 1) comes to the same.
      scaled[j] ^= 1;
      kernels_.add_rows(block_.data(), n_, source, 1, coefficients_.data(), 1, columns);
    }
    for (std::size_t r = 0; r < n_; ++r) std::copy_n(block_[r], columns, rows_[r] + first);
    return true;
  }

  // Brings the columns begin..end up to date with what was done in the block's columns.
  void update_others(std::size_t first, std::size_t columns, std::size_t begin, std::size_t end) {
    if (begin == end) return;
    const std::size_t width = end - begin;
    std::vector<std::uint8_t> before(columns * width);
    std::vector<const std::uint8_t*> in(columns);
    for (std::size_t j = 0; j < columns; ++j) {
      std::uint8_t* row = rows_[first + j] + begin;
      std::uint8_t* kept = before.data() + j * width;
      std::memcpy(kept, row, width);
      std::memset(row, 0, width);
      in[j] = kept;
    }
    std::vector<std::uint8_t*> out(rows_);
    for (std::uint8_t*& row : out) row += begin;
    kernels_.add_rows(out.data(), n_, in.data(), columns, rows_[0] + first, n_, width);
  }

  const Kernels& kernels_;
  std::size_t n_;
  std::vector<std::size_t> exchanged_;  // by column: the row that came to its place
  std::vector<std::uint8_t> coefficients_;
  std::vector<std::uint8_t*> rows_, block_;
  std::vector<std::uint8_t> block_bytes_;
};

}  // namespace

bool invert_matrix(std::span<const std::uint8_t> matrix, std::size_t n, std::span<std::uint8_t> out,
                   const Kernels& kernels) {
  assert(matrix.size() == n * n && out.size() == n * n);
  std::copy(matrix.begin(), matrix.end(), out.begin());
  return Inversion(out.data(), n, kernels).run();
}

}  // namespace firn::codec
