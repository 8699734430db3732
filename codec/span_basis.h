// The span of the coding vectors that a peer holds in one generation, kept in reduced row-echelon
// form: tells whether the next vector is innovative before its payload is touched. Coefficients
// only; payloads are the decoder's.
//
// In blocks. A vector is reduced by all rows at once as it comes, but its own pivot column is
// cleared only in the latest few rows, the fresh ones, and in all others for a whole block of fresh
// rows together (settle): one product in place of as many passes over the matrix.
//
//   settled rows   1 at their own pivot, 0 at the pivots of the other settled rows
//   fresh rows     1 at their own pivot, 0 at all other pivots
//
// Cost of insert: about 2 * rank * (n - rank) multiply-adds for dense vectors, half of them in
// products; less for sparse ones (note 062). Memory: at most 2 * n * n bytes, taken as the rank
// grows. Vectors handed in have n coefficients. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/kernels.h"
#include "codec/random.h"

namespace firn::codec {

class SpanBasis {
 public:
  explicit SpanBasis(std::size_t generation_size, const Kernels& kernels = codec::kernels());

  std::size_t generation_size() const { return n_; }
  std::size_t rank() const { return rank_; }
  bool full() const { return rank_ == n_; }

  // Brings all rows to reduced form: each the only one with a nonzero at its pivot.
  void settle();
  // The basis row that came i-th, n coefficients, and the column of its pivot, where it has a 1.
  // i < rank(); both until the next insert or settle.
  std::span<const std::uint8_t> basis_row(std::size_t i) const { return {row(i), n_}; }
  std::size_t pivot(std::size_t i) const { return pivots_[i]; }

  // Adds `vector` (n coefficients) to the span. True if it was innovative (raised the rank).
  bool insert(std::span<const std::uint8_t> vector);
  // Whether `vector` would be innovative; changes nothing.
  bool is_innovative(std::span<const std::uint8_t> vector) const;

  // A random vector z, v.z = 0 for every v in the span, z != 0; uniform among those. The rank must
  // be below n. (A sender that holds a v with v.z != 0 has an innovative block for certain.)
  std::vector<std::uint8_t> random_null_vector(CoefficientStream& random) const;

  // True if some vector of the span has v.z != 0.
  bool reaches(std::span<const std::uint8_t> z) const;

 private:
  const std::uint8_t* row(std::size_t r) const { return rows_.data() + r * n_; }
  std::uint8_t* row(std::size_t r) { return rows_.data() + r * n_; }
  // out = vector less its part in the span: zero at all pivots. out has n bytes outside the rows.
  void reduce(std::span<const std::uint8_t> vector, std::uint8_t* out) const;
  void clear_column(std::size_t pivot, const std::uint8_t* by);
  void skip_pivots(std::size_t first);

  std::size_t n_;
  std::size_t rank_ = 0;
  const Kernels* kernels_;
  std::vector<std::uint8_t> rows_;   // rank x n, in order of arrival
  std::vector<std::size_t> pivots_;  // of each row: its first nonzero column as it came
  std::size_t settled_ = 0;          // rows; those after them are fresh
  std::vector<bool> is_pivot_;       // by column: of a settled row, while there are none of any row
  std::size_t open_ = 0;             // the first column that is not: below it reduce() gives zeros
};

// sum_i a[i] * b[i]; same lengths.
std::uint8_t dot(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

}  // namespace firn::codec
