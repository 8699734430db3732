#include <algorithm>
#include <cassert>
#include <iterator>

#include "codec/decode.h"
#include "codec/gf256.h"
#include "codec/product.h"

namespace firn::codec {
namespace {

// Panels end at these sixteenths of the generation. Large ones make better products; the last one
// is what is left to do after the last block: (1/8) (2 - 1/8), 23 % of all multiply-adds.
constexpr std::size_t kPanelEnds[] = {4, 8, 12, 14, 16};

bool ends_panel(std::size_t rank, std::size_t n) {
  return std::any_of(std::begin(kPanelEnds), std::end(kPanelEnds),
                     [&](std::size_t end) { return rank == n * end / 16; });
}

}  // namespace

ProgressiveDecoder::ProgressiveDecoder(std::size_t generation_size, std::size_t block_bytes,
                                       Mode mode, const Kernels& kernels)
    : n_(generation_size),
      k_(block_bytes),
      mode_(mode),
      kernels_(kernels),
      basis_(generation_size, kernels) {
  if (mode == Mode::kPanel) reduced_.resize(n_ * k_);
}

Innovation ProgressiveDecoder::add(std::span<const std::uint8_t> vector,
                                   std::span<const std::uint8_t> payload) {
  assert(vector.size() == n_ && payload.size() == k_);
  if (!basis_.insert(vector)) return Innovation::kRedundant;
  vectors_.emplace_back(vector.begin(), vector.end());
  payloads_.emplace_back(payload.begin(), payload.end());
  if (mode_ == Mode::kTextbook) eliminate_last();
  if (mode_ == Mode::kPanel && ends_panel(rank(), n_)) {
    basis_.settle();
    eliminate_panel();
  }
  return complete() ? Innovation::kComplete : Innovation::kInnovative;
}

// The textbook's two passes: forward, the rows before clear the new one at their pivots; backward,
// the new one clears them at its own.
void ProgressiveDecoder::eliminate_last() {
  const std::size_t last = vectors_.size() - 1;
  const auto add_row = [&](std::size_t to, std::size_t from, std::uint8_t coefficient) {
    kernels_.multiply_add(vectors_[to].data(), vectors_[from].data(), coefficient, n_);
    kernels_.multiply_add(payloads_[to].data(), payloads_[from].data(), coefficient, k_);
  };
  for (std::size_t r = 0; r < last; ++r) add_row(last, r, vectors_[last][pivot_of_row_[r]]);

  auto& vector = vectors_[last];
  const auto first =
      std::find_if(vector.begin(), vector.end(), [](std::uint8_t c) { return c != 0; });
  const auto pivot = static_cast<std::size_t>(first - vector.begin());
  const std::uint8_t scale = gf_inverse(*first);
  kernels_.multiply(vector.data(), vector.data(), scale, n_);
  kernels_.multiply(payloads_[last].data(), payloads_[last].data(), scale, k_);
  for (std::size_t r = 0; r < last; ++r) add_row(r, last, vectors_[r][pivot]);
  pivot_of_row_.push_back(pivot);
}

// The settled rows have vectors R and payloads Y in reduced form, with pivots P. The panel's new
// rows have vectors C and payloads Z as they came; the basis chose the pivots Q for them. Then
//   D = C_Q + C_P R_Q,   Z' = D^-1 Z + D^-1 C_P Y,   Y' = Y + R_Q Z'
// are two products: as many multiply-adds, over all panels, as one product at the end.
void ProgressiveDecoder::eliminate_panel() {
  const std::size_t old_rows = settled_, rows = rank() - settled_, total = rank();
  const auto reduced_row = [&](std::size_t r) { return &reduced_[basis_.pivot(r) * k_]; };

  std::vector<std::uint8_t> r_q(old_rows * rows), c_p(rows * old_rows), d(rows * rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto& vector = vectors_[old_rows + i];
    for (std::size_t r = 0; r < old_rows; ++r) c_p[i * old_rows + r] = vector[basis_.pivot(r)];
    for (std::size_t j = 0; j < rows; ++j) d[i * rows + j] = vector[basis_.pivot(old_rows + j)];
  }
  for (std::size_t r = 0; r < old_rows; ++r) {
    for (std::size_t j = 0; j < rows; ++j) {
      r_q[r * rows + j] = reduced_vectors_[r * n_ + basis_.pivot(old_rows + j)];
    }
  }
  const auto rows_of = [](std::vector<std::uint8_t>& matrix, std::size_t count, std::size_t width) {
    std::vector<std::uint8_t*> result(count);
    for (std::size_t r = 0; r < count; ++r) result[r] = matrix.data() + r * width;
    return result;
  };
  const auto add_product = [&](const std::vector<std::uint8_t*>& to,
                               const std::vector<std::uint8_t*>& from, const std::uint8_t* left,
                               std::size_t stride, std::size_t bytes) {
    const std::vector<const std::uint8_t*> in(from.begin(), from.end());
    kernels_.add_rows(to.data(), to.size(), in.data(), in.size(), left, stride, bytes);
  };
  add_product(rows_of(d, rows, rows), rows_of(r_q, old_rows, rows), c_p.data(), old_rows, rows);

  // left = D^-1 (1, C_P), over the sources (Z, Y)
  std::vector<std::uint8_t> inverse(rows * rows), left(rows * total);
  [[maybe_unused]] const bool regular = invert_matrix(d, rows, inverse, kernels_);
  assert(regular);
  auto left_rows = rows_of(left, rows, total);
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(&inverse[i * rows], rows, left_rows[i]);
    left_rows[i] += rows;
  }
  add_product(left_rows, rows_of(c_p, rows, old_rows), inverse.data(), rows, old_rows);

  std::vector<const std::uint8_t*> sources;
  std::vector<std::uint8_t*> fresh, old;
  for (std::size_t r = old_rows; r < total; ++r) {
    sources.push_back(payloads_[r].data());
    fresh.push_back(reduced_row(r));
  }
  for (std::size_t r = 0; r < old_rows; ++r) {
    sources.push_back(reduced_row(r));
    old.push_back(reduced_row(r));
  }
  multiply_rows(kernels_, fresh.data(), rows, sources.data(), total, left.data(), total, k_);
  add_product(old, fresh, r_q.data(), rows, k_);

  settled_ = total;
  if (complete()) return;
  reduced_vectors_.clear();
  for (std::size_t r = 0; r < total; ++r) {
    const auto row = basis_.basis_row(r);
    reduced_vectors_.insert(reduced_vectors_.end(), row.begin(), row.end());
  }
}

void ProgressiveDecoder::decode(std::span<std::uint8_t> out) const {
  assert(complete() && out.size() == n_ * k_);
  if (mode_ == Mode::kPanel) {
    std::copy(reduced_.begin(), reduced_.end(), out.begin());
    return;
  }
  if (mode_ == Mode::kTextbook) {
    for (std::size_t r = 0; r < n_; ++r) {
      std::copy_n(payloads_[r].data(), k_, out.data() + pivot_of_row_[r] * k_);
    }
    return;
  }
  std::vector<const std::uint8_t*> vectors, payloads;
  for (const auto& vector : vectors_) vectors.push_back(vector.data());
  for (const auto& payload : payloads_) payloads.push_back(payload.data());
  [[maybe_unused]] const bool decoded = decode_generation(kernels_, n_, k_, vectors, payloads, out);
  assert(decoded);
}

}  // namespace firn::codec
