#include "codec/coding_vectors.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "codec/encode.h"

namespace firn::codec {
namespace {

bool all_zero(const std::vector<std::uint8_t>& vector) {
  return std::all_of(vector.begin(), vector.end(), [](std::uint8_t c) { return c == 0; });
}

std::uint8_t nonzero(CoefficientStream& random) {
  std::uint8_t value[1];
  random.fill_nonzero(value);
  return value[0];
}

std::uint32_t next_u32(CoefficientStream& random) {
  std::uint8_t bytes[4];
  random.fill(bytes);
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

}  // namespace

CodingVectors::CodingVectors(CoefficientMode mode, std::size_t generation_size,
                             CoefficientStream random, double density)
    : mode_(mode),
      n_(generation_size),
      random_(random),
      threshold_(static_cast<std::uint32_t>(std::min(density * 0x1p32, 0x1p32 - 1))) {
  assert(n_ > 0 && density > 0 && density <= 1 && threshold_ > 0);
}

void CodingVectors::draw(std::vector<std::uint8_t>& vector) {
  switch (mode_) {
    case CoefficientMode::kSparse:
      for (std::uint8_t& c : vector) {
        c = next_u32(random_) < threshold_ ? nonzero(random_) : std::uint8_t{0};
      }
      return;
    case CoefficientMode::kBinary: {
      std::vector<std::uint8_t> bits((n_ + 7) / 8);
      random_.fill(bits);
      for (std::size_t i = 0; i < n_; ++i) vector[i] = bits[i / 8] >> i % 8 & 1;
      return;
    }
    case CoefficientMode::kDense:
    case CoefficientMode::kSystematic:
      random_.fill(vector);
  }
}

std::vector<std::uint8_t> CodingVectors::next() {
  if (mode_ == CoefficientMode::kSystematic && drawn_ < n_) return unit_vector(n_, drawn_++);
  std::vector<std::uint8_t> vector(n_);
  do draw(vector);
  while (all_zero(vector));
  return vector;
}

double redundancy_of_sparse(double density, std::size_t weight) {
  const double stays = 1 - density * 256 / 255;
  return 1.0 / 256 + 255.0 / 256 * std::pow(stays, static_cast<double>(weight));
}

std::vector<std::uint8_t> sparse_mix(std::size_t rank, std::size_t nonzeros,
                                     CoefficientStream& random) {
  assert(rank > 0 && nonzeros >= 2);
  if (rank <= nonzeros) return random_mix(rank, random);
  // The first steps of a shuffle choose the places.
  std::vector<std::size_t> places(rank);
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::vector<std::uint8_t> mix(rank);
  for (std::size_t i = 0; i < nonzeros; ++i) {
    std::swap(places[i], places[i + random.below(static_cast<std::uint32_t>(rank - i))]);
    mix[places[i]] = nonzero(random);
  }
  return mix;
}

}  // namespace firn::codec
