// ISA-L works in the same field: its bytes must be ours. Built where the library is installed.
#include <doctest/doctest.h>

#include "codec/bench/isal.h"
#include "codec/decode.h"
#include "codec/product.h"
#include "tests/codec/generation.h"

namespace firn::codec {
namespace {

void check_product(std::size_t rows, std::size_t n, std::size_t k, CoefficientStream& random) {
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(rows);
  const Generation generation(n, k, random);
  const Bytes matrix = random_bytes(rows * n, random);
  std::vector<const std::uint8_t*> in;
  for (std::size_t j = 0; j < n; ++j) in.push_back(&generation.source[j * k]);
  Bytes theirs(rows * k), ours(rows * k);
  std::vector<std::uint8_t*> their_rows, our_rows;
  for (std::size_t r = 0; r < rows; ++r) {
    their_rows.push_back(&theirs[r * k]);
    our_rows.push_back(&ours[r * k]);
  }
  const Bytes tables = bench::isal::tables(matrix, rows, n);
  bench::isal::encode(tables, their_rows.data(), rows, in.data(), n, k);
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    multiply_rows(*kernels, our_rows.data(), rows, in.data(), n, matrix.data(), n, k);
    REQUIRE(ours == theirs);
  }
}

TEST_CASE("coded blocks are byte for byte what ISA-L makes") {
  REQUIRE(bench::isal::available());
  CoefficientStream random(95, 0);
  for (const std::size_t n : {1, 2, 16, 77, 128}) {
    for (const std::size_t k : {64, 100, 1024, 4099}) {  // its shortest row is 64 bytes
      for (const std::size_t rows : {1, 5, 16}) check_product(rows, n, k, random);
    }
  }
  check_product(128, 128, 4099, random);  // panels packed ahead
  check_product(512, 512, 2050, random);  // Strassen's form
}

TEST_CASE("an inverse is the one that ISA-L finds") {
  CoefficientStream random(96, 0);
  for (const std::size_t n : {1, 2, 33, 100}) {
    const Bytes matrix = random_bytes(n * n, random);
    Bytes theirs, ours(n * n);
    const bool regular = invert_matrix(matrix, n, ours);
    REQUIRE(bench::isal::invert(matrix, n, theirs) == regular);
    if (regular) CHECK(ours == theirs);
  }
}

}  // namespace
}  // namespace firn::codec
