#include "client/medium/slice_decoder.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "codec/decode.h"
#include "codec/span_basis.h"
#include "proto/base/result.h"

namespace firn::medium {
namespace {

// The place of the 1 of a unit vector.
std::optional<std::size_t> unit_place(const std::vector<std::uint8_t>& vector) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (vector[i] == 0) continue;
    if (place || vector[i] != 1) return std::nullopt;
    place = i;
  }
  return place;
}

}  // namespace

void SliceDecoder::add(std::vector<std::uint8_t> vector, std::vector<std::uint8_t> payload) {
  FIRN_CHECK(vector.size() == n_ && payload.size() == slice_bytes_);
  vectors_.push_back(std::move(vector));
  payloads_.push_back(std::move(payload));
}

bool SliceDecoder::decode(std::uint8_t* out, std::size_t stride, std::size_t& missing) const {
  const codec::Kernels& kernels = codec::kernels();
  std::vector<bool> known(n_);
  std::vector<std::size_t> coded;
  for (std::size_t r = 0; r < vectors_.size(); ++r) {
    const auto place = unit_place(vectors_[r]);
    if (!place) {
      coded.push_back(r);
    } else if (!known[*place]) {
      known[*place] = true;
      std::memcpy(out + *place * stride, payloads_[r].data(), slice_bytes_);
    }
  }
  std::vector<std::size_t> lost;
  for (std::size_t i = 0; i < n_; ++i)
    if (!known[i]) lost.push_back(i);
  // The coded rows less what is known of them are rows over the lost blocks alone.
  codec::SpanBasis basis(lost.size() == 0 ? 1 : lost.size());
  std::vector<std::vector<std::uint8_t>> small, rests;
  for (const std::size_t r : coded) {
    if (small.size() == lost.size()) break;
    std::vector<std::uint8_t> vector;
    for (const std::size_t i : lost) vector.push_back(vectors_[r][i]);
    if (!basis.insert(vector)) continue;
    std::vector<std::uint8_t> rest = payloads_[r];
    for (std::size_t i = 0; i < n_; ++i)
      if (known[i] && vectors_[r][i] != 0)
        kernels.multiply_add(rest.data(), out + i * stride, vectors_[r][i], slice_bytes_);
    small.push_back(std::move(vector));
    rests.push_back(std::move(rest));
  }
  missing = lost.size() - small.size();
  if (missing > 0) return false;
  if (lost.empty()) return true;
  std::vector<const std::uint8_t*> vectors, payloads;
  for (std::size_t i = 0; i < small.size(); ++i) {
    vectors.push_back(small[i].data());
    payloads.push_back(rests[i].data());
  }
  std::vector<std::uint8_t> blocks(lost.size() * slice_bytes_);
  FIRN_CHECK(
      codec::decode_generation(kernels, lost.size(), slice_bytes_, vectors, payloads, blocks));
  for (std::size_t i = 0; i < lost.size(); ++i)
    std::memcpy(out + lost[i] * stride, blocks.data() + i * slice_bytes_, slice_bytes_);
  return true;
}

}  // namespace firn::medium
