#include "codec/encode.h"

#include <algorithm>
#include <cassert>

namespace firn::codec {

std::vector<std::uint8_t> random_vector(std::size_t generation_size, CoefficientStream& random) {
  assert(generation_size > 0);
  std::vector<std::uint8_t> vector(generation_size);
  do random.fill(vector);
  while (std::all_of(vector.begin(), vector.end(), [](std::uint8_t c) { return c == 0; }));
  return vector;
}

std::vector<std::uint8_t> unit_vector(std::size_t generation_size, std::size_t index) {
  assert(index < generation_size);
  std::vector<std::uint8_t> vector(generation_size);
  vector[index] = 1;
  return vector;
}

std::vector<std::uint8_t> random_mix(std::size_t rank, CoefficientStream& random) {
  assert(rank > 0);
  std::vector<std::uint8_t> mix(rank);
  do random.fill_nonzero(mix);
  while (rank == 1 && mix[0] == 1);
  return mix;
}

void mix_vectors(const Kernels& kernels, std::span<const std::uint8_t> mix,
                 std::span<const std::uint8_t* const> vectors, std::span<std::uint8_t> vector_out) {
  assert(mix.size() == vectors.size());
  kernels.combine(vector_out.data(), vectors.data(), mix.data(), mix.size(), vector_out.size());
}

}  // namespace firn::codec
