#include "codec/product.h"

#include <doctest/doctest.h>

#include "tests/codec/generation.h"

namespace firn::codec {
namespace {

struct ProductShape {
  std::size_t rows, count, bytes;
};

// Rows of `bytes` bytes with a gap of kGap guard bytes behind each.
struct Rows {
  static constexpr std::size_t kGap = 5;
  std::size_t bytes;
  Bytes memory;
  std::vector<std::uint8_t*> rows;

  Rows(std::size_t count, std::size_t row_bytes, std::uint8_t fill)
      : bytes(row_bytes), memory(count * (row_bytes + kGap), fill) {
    for (std::size_t r = 0; r < count; ++r) rows.push_back(&memory[r * (row_bytes + kGap)]);
  }
};

// The product with each number of levels against the plain product of the same kernels, which
// other tests hold against the scalar ones.
void check(const Kernels& kernels, const ProductShape& shape, unsigned levels_max,
           CoefficientStream& random) {
  CAPTURE(kernels.name);
  CAPTURE(shape.rows);
  CAPTURE(shape.count);
  CAPTURE(shape.bytes);
  Rows in(shape.count, shape.bytes, 0);
  random.fill(in.memory);
  const Bytes before = in.memory;
  const std::size_t stride = shape.count + 3;
  const Bytes coefficients = random_bytes(shape.rows * stride, random);
  Rows expected(shape.rows, shape.bytes, 0xa5);
  kernels.combine_rows(expected.rows.data(), shape.rows, in.rows.data(), shape.count,
                       coefficients.data(), stride, shape.bytes);
  for (unsigned levels = 0; levels <= levels_max; ++levels) {
    CAPTURE(levels);
    Rows out(shape.rows, shape.bytes, 0xa5);
    multiply_rows(kernels, out.rows.data(), shape.rows, in.rows.data(), shape.count,
                  coefficients.data(), stride, shape.bytes, levels);
    REQUIRE(out.memory == expected.memory);
  }
  Rows out(shape.rows, shape.bytes, 0xa5);
  multiply_rows(kernels, out.rows.data(), shape.rows, in.rows.data(), shape.count,
                coefficients.data(), stride, shape.bytes);
  REQUIRE(out.memory == expected.memory);
  REQUIRE(in.memory == before);
}

TEST_CASE("Strassen's products equal the plain product for every shape") {
  CoefficientStream random(70, 0);
  for (const Kernels* kernels : available_kernels()) {
    const std::size_t strip = kernels->strip_bytes;
    for (const std::size_t rows : {1, 2, 3, 5, 8, 13}) {
      for (const std::size_t count : {0, 1, 2, 7, 8, 12}) {
        for (const std::size_t bytes :
             {std::size_t{1}, strip, 2 * strip - 1, 2 * strip, 4 * strip + 3, 9 * strip}) {
          check(*kernels, {rows, count, bytes}, 3, random);
        }
      }
    }
  }
}

TEST_CASE("large products are exact where Strassen's form is chosen") {
  CoefficientStream random(71, 0);
  for (const Kernels* kernels : available_kernels()) {
    if (kernels == &kScalarKernels) continue;
    check(*kernels, {512, 512, 1024}, 3, random);
    check(*kernels, {1024, 1024, 1024}, 0, random);
    check(*kernels, {600, 481, 1111}, 2, random);
  }
}

TEST_CASE("the largest generation is encoded right") {
  CoefficientStream random(72, 0);
  check(kernels(), {4096, 4096, 65}, 0, random);
  check(kernels(), {4096, 4096, 1}, 0, random);
  check(kernels(), {3, 4096, 4000}, 1, random);
}

}  // namespace
}  // namespace firn::codec
