#include "cuda_kernels/product/tower_field.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>

namespace firn::cuda {

TEST_CASE("three products in the subfield make every product of bytes") {
  const auto parts = make_tower_parts();
  const auto matrices = make_tower_matrices();
  const auto outputs = make_tower_outputs();
  int wrong = 0;
  for (unsigned c = 0; c < 256; ++c) {
    for (unsigned b = 0; b < 256; ++b) {
      const unsigned u = parts[b] & 15, v = parts[b] >> 4;
      const unsigned planes[3] = {u, v, u ^ v};
      unsigned product = 0;
      for (unsigned j = 0; j < 12; ++j) {
        const auto row = static_cast<unsigned>(matrices.of[c] >> (4 * j)) & 15;
        if (std::popcount(row & planes[j / 4]) % 2 == 1) product ^= outputs[j];
      }
      wrong +=
          product != codec::gf_multiply(static_cast<std::uint8_t>(c), static_cast<std::uint8_t>(b));
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("shifts and masks take a byte apart as the table does") {
  const auto parts = make_tower_parts();
  const auto diagonals = make_tower_diagonals();
  int wrong = 0;
  for (unsigned b = 0; b < 256; ++b) {
    unsigned value = 0;
    for (unsigned d = 0; d < 15; ++d)
      value ^= (d >= 7 ? b << (d - 7) : b >> (7 - d)) & diagonals[d];
    wrong += value != parts[b];
  }
  CHECK(wrong == 0);
  CHECK(std::count_if(diagonals.begin(), diagonals.end(), [](auto mask) { return mask != 0; }) ==
        6);
}

}  // namespace firn::cuda
