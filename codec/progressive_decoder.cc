#include <algorithm>
#include <cassert>

#include "codec/decode.h"
#include "codec/gf256.h"

namespace firn::codec {

ProgressiveDecoder::ProgressiveDecoder(std::size_t generation_size, std::size_t block_bytes,
                                       Mode mode, const Kernels& kernels)
    : n_(generation_size),
      k_(block_bytes),
      mode_(mode),
      kernels_(kernels),
      basis_(generation_size, kernels) {}

Innovation ProgressiveDecoder::add(std::span<const std::uint8_t> vector,
                                   std::span<const std::uint8_t> payload) {
  assert(vector.size() == n_ && payload.size() == k_);
  if (!basis_.insert(vector)) return Innovation::kRedundant;
  vectors_.emplace_back(vector.begin(), vector.end());
  payloads_.emplace_back(payload.begin(), payload.end());
  if (mode_ == Mode::kTextbook) eliminate_last();
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

void ProgressiveDecoder::decode(std::span<std::uint8_t> out) const {
  assert(complete() && out.size() == n_ * k_);
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
