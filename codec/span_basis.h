// The span of the coding vectors that a peer holds in one generation, kept in reduced row-echelon
// form: tells whether the next vector is innovative before its payload is touched. Coefficients
// only; payloads are the decoder's.
//
// Cost of insert: about 2 * rank * n multiply-adds. Memory: at most 2 * n * n bytes, taken as the
// rank grows. Vectors handed in have n coefficients. One thread at a time.
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

  // The basis row that came i-th, n coefficients, and the column of its pivot: there it has a 1 and
  // every other row a 0. i < rank(); both until the next insert.
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

  std::size_t n_;
  std::size_t rank_ = 0;
  const Kernels* kernels_;
  std::vector<std::uint8_t> rows_;   // rank x n, in order of arrival
  std::vector<std::size_t> pivots_;  // of each row: its first nonzero column, where it has a 1
};

// sum_i a[i] * b[i]; same lengths.
std::uint8_t dot(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

}  // namespace firn::codec
