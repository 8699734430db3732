// The span of the coding vectors that a peer holds in one generation, kept in reduced row-echelon
// form: tells whether the next vector is innovative before its payload is touched. Coefficients
// only; payloads are the decoder's.
//
// Cost of insert: rank * n multiply-adds. Memory: at most n * n bytes, taken as rank grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/random.h"

namespace firn::codec {

class SpanBasis {
 public:
  explicit SpanBasis(std::size_t generation_size);

  std::size_t generation_size() const { return n_; }
  std::size_t rank() const { return rank_; }
  bool full() const { return rank_ == n_; }

  // Adds `vector` (n coefficients) to the span. True if it was innovative (raised the rank).
  bool insert(std::span<const std::uint8_t> vector);
  // Whether `vector` would be innovative; changes nothing.
  bool is_innovative(std::span<const std::uint8_t> vector) const;

  // A random vector z, v.z = 0 for every v in the span, z != 0; uniform among those. The rank must
  // be below n. (A sender whose v has v.z != 0 has an innovative block for certain.)
  std::vector<std::uint8_t> random_null_vector(CoefficientStream& random) const;

  // True if some vector of the span has v.z != 0.
  bool reaches(std::span<const std::uint8_t> z) const;

 private:
  std::size_t n_;
  std::size_t rank_ = 0;
  std::vector<std::vector<std::uint8_t>> rows_;  // by pivot column; empty: no such pivot
};

// sum_i a[i] * b[i]; same lengths.
std::uint8_t dot(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

}  // namespace firn::codec
