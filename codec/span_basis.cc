#include "codec/span_basis.h"

#include <algorithm>
#include <cassert>

#include "codec/gf256.h"
#include "codec/kernels/products.h"

namespace firn::codec {

SpanBasis::SpanBasis(std::size_t generation_size, const Kernels& kernels)
    : n_(generation_size), kernels_(&kernels) {
  assert(n_ > 0);
}

// In reduced form a row is the only one with a nonzero at its pivot, so the vector's own entries at
// the pivots say what to take of each row, all at once.
void SpanBasis::reduce(std::span<const std::uint8_t> vector, std::uint8_t* out) const {
  assert(vector.size() == n_);
  std::vector<const std::uint8_t*> terms;
  std::vector<std::uint8_t> coefficients;
  terms.reserve(rank_ + 1);
  coefficients.reserve(rank_ + 1);
  terms.push_back(vector.data());
  coefficients.push_back(1);
  for (std::size_t r = 0; r < rank_; ++r) {
    const std::uint8_t coefficient = vector[pivots_[r]];
    if (coefficient == 0) continue;
    terms.push_back(row(r));
    coefficients.push_back(coefficient);
  }
  kernels_->combine(out, terms.data(), coefficients.data(), terms.size(), n_);
}

bool SpanBasis::insert(std::span<const std::uint8_t> vector) {
  assert(vector.size() == n_);
  if (full()) return false;
  rows_.resize((rank_ + 1) * n_);
  std::uint8_t* fresh = row(rank_);
  reduce(vector, fresh);
  const auto pivot = static_cast<std::size_t>(
      std::find_if(fresh, fresh + n_, [](std::uint8_t c) { return c != 0; }) - fresh);
  if (pivot == n_) {
    rows_.resize(rank_ * n_);
    return false;
  }
  kernels_->multiply(fresh, fresh, gf_inverse(fresh[pivot]), n_);
  std::vector<std::uint8_t*> others(rank_);
  std::vector<std::uint8_t> coefficients(rank_);
  for (std::size_t r = 0; r < rank_; ++r) {
    others[r] = row(r);
    coefficients[r] = row(r)[pivot];
  }
  const std::uint8_t* const source[] = {fresh};
  kernels_->add_rows(others.data(), rank_, source, 1, coefficients.data(), 1, n_);
  pivots_.push_back(pivot);
  ++rank_;
  return true;
}

bool SpanBasis::is_innovative(std::span<const std::uint8_t> vector) const {
  assert(vector.size() == n_);
  if (full()) return false;
  std::vector<std::uint8_t> rest(n_);
  reduce(vector, rest.data());
  return std::any_of(rest.begin(), rest.end(), [](std::uint8_t c) { return c != 0; });
}

// z is free at the columns that are no pivots; z.row = 0 then fixes it at each row's pivot. As many
// z as choices, so a uniform nonzero choice gives a uniform nonzero z.
std::vector<std::uint8_t> SpanBasis::random_null_vector(CoefficientStream& random) const {
  assert(!full());
  std::vector<std::uint8_t> choice(n_ - rank_);
  do random.fill(choice);
  while (std::all_of(choice.begin(), choice.end(), [](std::uint8_t c) { return c == 0; }));

  std::vector<bool> is_pivot(n_);
  for (const std::size_t pivot : pivots_) is_pivot[pivot] = true;
  std::vector<std::uint8_t> z(n_);
  for (std::size_t column = 0, next = 0; column < n_; ++column) {
    if (!is_pivot[column]) z[column] = choice[next++];
  }
  // A row is 0 at every pivot but its own, so pivots of z filled in so far do not disturb.
  for (std::size_t r = 0; r < rank_; ++r) z[pivots_[r]] = dot({row(r), n_}, z);
  return z;
}

bool SpanBasis::reaches(std::span<const std::uint8_t> z) const {
  assert(z.size() == n_);
  for (std::size_t r = 0; r < rank_; ++r) {
    if (dot({row(r), n_}, z) != 0) return true;
  }
  return false;
}

std::uint8_t dot(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  assert(a.size() == b.size());
  // gf_multiply written out: the call would cost as much as the product.
  std::uint8_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint8_t* products = kNibbleProducts.by_constant[b[i]];
    sum ^= products[a[i] & 15] ^ products[16 + (a[i] >> 4)];
  }
  return sum;
}

}  // namespace firn::codec
