// A generation with known source blocks, and coded blocks made of it by the scalar kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/encode.h"
#include "codec/kernels.h"
#include "codec/random.h"

namespace firn::codec {

using Bytes = std::vector<std::uint8_t>;

inline Bytes random_bytes(std::size_t count, CoefficientStream& random) {
  Bytes bytes(count);
  random.fill(bytes);
  return bytes;
}

struct CodedBlock {
  Bytes vector, payload;
};

struct Generation {
  std::size_t n, k;
  Bytes source;  // n * k

  Generation(std::size_t size, std::size_t block_bytes, CoefficientStream& random)
      : n(size), k(block_bytes), source(random_bytes(size * block_bytes, random)) {}

  CodedBlock encode(Bytes vector) const {
    std::vector<const std::uint8_t*> blocks;
    for (std::size_t i = 0; i < n; ++i) blocks.push_back(source.data() + i * k);
    Bytes payload(k);
    kScalarKernels.combine(payload.data(), blocks.data(), vector.data(), n, k);
    return {std::move(vector), std::move(payload)};
  }
  CodedBlock dense(CoefficientStream& random) const { return encode(random_vector(n, random)); }
  CodedBlock systematic(std::size_t index) const { return encode(unit_vector(n, index)); }
};

template <class Container>
std::vector<const std::uint8_t*> pointers(const Container& rows) {
  std::vector<const std::uint8_t*> result;
  for (const auto& row : rows) result.push_back(row.data());
  return result;
}

template <class T>
void shuffle(std::vector<T>& items, CoefficientStream& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random.below(static_cast<std::uint32_t>(i))]);
  }
}

}  // namespace firn::codec
