#include "codec/span_basis.h"

#include <algorithm>
#include <cassert>

#include "codec/gf256.h"
#include "codec/kernels/products.h"

namespace firn::codec {
namespace {

constexpr std::size_t kBlockedFrom = 256;  // n
constexpr std::size_t kFreshRows = 32;

// Columns before this one, which are zero in what is added, can be left out. Kernels are slower at
// odd lengths.
std::size_t whole_vectors(std::size_t column) {
  constexpr std::size_t kVectorBytes = 64;
  return column / kVectorBytes * kVectorBytes;
}

// Fresh rows at most. More make a better product when they settle, and cost more until then; small
// matrices lie in the first cache, where passes cost no more than products (note 062).
std::size_t fresh_max(std::size_t n) {
  return n < kBlockedFrom ? n : kFreshRows;
}

}  // namespace

SpanBasis::SpanBasis(std::size_t generation_size, const Kernels& kernels)
    : n_(generation_size), kernels_(&kernels), is_pivot_(generation_size) {
  assert(n_ > 0);
}

// A settled row is the only settled one with a nonzero at its pivot, so the vector's own entries
// there say what to take of each, all at once. Then the same with the fresh rows, which are zero at
// those pivots.
void SpanBasis::reduce(std::span<const std::uint8_t> vector, std::uint8_t* out) const {
  assert(vector.size() == n_);
  const std::size_t begin = whole_vectors(open_);
  std::vector<const std::uint8_t*> terms;
  std::vector<std::uint8_t> coefficients;
  terms.reserve(rank_ + 1);
  coefficients.reserve(rank_ + 1);
  const auto take = [&](const std::uint8_t* term, std::uint8_t coefficient) {
    if (coefficient == 0) return;
    terms.push_back(term + begin);
    coefficients.push_back(coefficient);
  };
  const std::size_t at_once = settled_ == 0 ? rank_ : settled_;
  take(vector.data(), 1);
  for (std::size_t r = 0; r < at_once; ++r) take(row(r), vector[pivots_[r]]);
  std::fill_n(out, begin, std::uint8_t{0});
  std::uint8_t* const rest = out + begin;
  kernels_->combine(rest, terms.data(), coefficients.data(), terms.size(), n_ - begin);
  terms.clear();
  coefficients.clear();
  for (std::size_t r = at_once; r < rank_; ++r) take(row(r), out[pivots_[r]]);
  if (terms.empty()) return;
  kernels_->add_rows(&rest, 1, terms.data(), terms.size(), coefficients.data(), terms.size(),
                     n_ - begin);
}

bool SpanBasis::insert(std::span<const std::uint8_t> vector) {
  assert(vector.size() == n_);
  if (full()) return false;
  rows_.resize((rank_ + 1) * n_);
  std::uint8_t* fresh = row(rank_);
  reduce(vector, fresh);
  const auto pivot = static_cast<std::size_t>(
      std::find_if(fresh + open_, fresh + n_, [](std::uint8_t c) { return c != 0; }) - fresh);
  if (pivot == n_) {
    rows_.resize(rank_ * n_);
    return false;
  }
  const std::size_t begin = whole_vectors(pivot);
  kernels_->multiply(fresh + begin, fresh + begin, gf_inverse(fresh[pivot]), n_ - begin);
  clear_column(pivot, fresh);
  pivots_.push_back(pivot);
  ++rank_;
  if (settled_ == 0) skip_pivots(rank_ - 1);
  if (rank_ - settled_ >= fresh_max(n_) && !full()) settle();
  return true;
}

// In the fresh rows. `by` is zero before its pivot.
void SpanBasis::clear_column(std::size_t pivot, const std::uint8_t* by) {
  const std::size_t begin = whole_vectors(pivot);
  std::vector<std::uint8_t*> others;
  std::vector<std::uint8_t> coefficients;
  others.reserve(rank_ - settled_);
  coefficients.reserve(rank_ - settled_);
  for (std::size_t r = settled_; r < rank_; ++r) {
    if (row(r)[pivot] == 0) continue;
    others.push_back(row(r) + begin);
    coefficients.push_back(row(r)[pivot]);
  }
  if (others.empty()) return;
  const std::uint8_t* const source[] = {by + begin};
  kernels_->add_rows(others.data(), others.size(), source, 1, coefficients.data(), 1, n_ - begin);
}

// What a settled row has at the pivots of the fresh ones says what to take of these, all at once.
void SpanBasis::settle() {
  const std::size_t fresh = rank_ - settled_;
  if (fresh == 0) return;
  if (settled_ > 0) skip_pivots(settled_);  // else it has skipped them already
  const std::size_t begin = whole_vectors(
      *std::min_element(pivots_.begin() + static_cast<std::ptrdiff_t>(settled_), pivots_.end()));
  std::vector<const std::uint8_t*> sources(fresh);
  for (std::size_t i = 0; i < fresh; ++i) sources[i] = row(settled_ + i) + begin;
  std::vector<std::uint8_t*> others;
  std::vector<std::uint8_t> coefficients;
  others.reserve(settled_);
  coefficients.reserve(settled_ * fresh);
  for (std::size_t r = 0; r < settled_; ++r) {
    std::uint8_t any = 0;
    for (std::size_t i = 0; i < fresh; ++i) {
      coefficients.push_back(row(r)[pivots_[settled_ + i]]);
      any |= coefficients.back();
    }
    if (any != 0) {
      others.push_back(row(r) + begin);
    } else {
      coefficients.resize(coefficients.size() - fresh);
    }
  }
  if (!others.empty())
    kernels_->add_rows(others.data(), others.size(), sources.data(), fresh, coefficients.data(),
                       fresh, n_ - begin);
  settled_ = rank_;
}

// Of rows from `first` on.
void SpanBasis::skip_pivots(std::size_t first) {
  for (std::size_t r = first; r < rank_; ++r) is_pivot_[pivots_[r]] = true;
  while (open_ < n_ && is_pivot_[open_]) ++open_;
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
  // A fresh row is 0 at every pivot but its own, and a settled one at every other settled row's: so
  // with the fresh ones first, pivots of z that are still 0 do not disturb.
  for (std::size_t r = settled_; r < rank_; ++r) z[pivots_[r]] = dot({row(r), n_}, z);
  for (std::size_t r = 0; r < settled_; ++r) z[pivots_[r]] = dot({row(r), n_}, z);
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
