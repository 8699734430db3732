#include "codec/kernels.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "codec/gf256.h"
#include "tests/codec/generation.h"
#include "tests/codec/guarded_row.h"

namespace firn::codec {
namespace {

// Around every vector width and strip, and around a few pages.
const std::size_t kLengths[] = {0,   1,   2,   7,   8,    15,   16,   17,   31,   32,
                                33,  47,  63,  64,  65,   95,   127,  128,  129,  191,
                                192, 193, 255, 256, 257,  319,  320,  383,  511,  512,
                                513, 575, 640, 777, 1024, 1025, 1500, 4095, 4096, 4097};

using Row = std::unique_ptr<GuardedRow>;

using At = GuardedRow::At;

Row make_row(std::size_t bytes, std::size_t gap, At at = At::kEnd) {
  return std::make_unique<GuardedRow>(bytes, gap, at);
}

// One row in four stands directly before a forbidden page, one directly behind one, the others at
// some alignment.
std::vector<Row> make_rows(std::size_t count, std::size_t bytes, CoefficientStream& random) {
  std::vector<Row> rows;
  for (std::size_t r = 0; r < count; ++r) {
    rows.push_back(
        make_row(bytes, r % 2 == 0 ? 0 : random.below(65), r % 4 < 2 ? At::kEnd : At::kStart));
    random.fill(rows.back()->bytes());
  }
  return rows;
}

std::vector<std::uint8_t*> data_of(const std::vector<Row>& rows) {
  std::vector<std::uint8_t*> result;
  for (const auto& row : rows) result.push_back(row->data());
  return result;
}

Bytes copy_of(const Row& row) {
  return {row->bytes().begin(), row->bytes().end()};
}

// combine_rows of `kernels` against the scalar set, on fresh random rows and coefficients.
void check_product(const Kernels& kernels, std::size_t rows, std::size_t count, std::size_t bytes,
                   CoefficientStream& random) {
  CAPTURE(kernels.name);
  CAPTURE(rows);
  CAPTURE(count);
  CAPTURE(bytes);
  const auto in = make_rows(count, bytes, random);
  const auto out = make_rows(rows, bytes, random);
  const std::size_t stride = count + random.below(5);
  const Bytes coefficients = random_bytes(rows * stride, random);
  const auto in_data = data_of(in);
  const auto out_data = data_of(out);
  std::vector<Bytes> before;
  for (const auto& row : in) before.push_back(copy_of(row));

  kernels.combine_rows(out_data.data(), rows, in_data.data(), count, coefficients.data(), stride,
                       bytes);

  Bytes expected(bytes);
  for (std::size_t r = 0; r < rows; ++r) {
    kScalarKernels.combine(expected.data(), in_data.data(), coefficients.data() + r * stride, count,
                           bytes);
    REQUIRE(copy_of(out[r]) == expected);
    REQUIRE(out[r]->guards_intact());
  }
  for (std::size_t j = 0; j < count; ++j) REQUIRE(copy_of(in[j]) == before[j]);

  // Added a second time, the product is gone.
  kernels.add_rows(out_data.data(), rows, in_data.data(), count, coefficients.data(), stride,
                   bytes);
  for (const auto& row : out) {
    REQUIRE(copy_of(row) == Bytes(bytes));
    REQUIRE(row->guards_intact());
  }
}

TEST_CASE("the scalar kernels do what their formulas say") {
  CoefficientStream random(1, 0);
  const Bytes in0 = random_bytes(300, random), in1 = random_bytes(300, random);
  const Bytes start = random_bytes(300, random);
  for (unsigned constant = 0; constant < 256; ++constant) {
    const auto c = static_cast<std::uint8_t>(constant);
    Bytes product(300), sum = start, combined(300);
    kScalarKernels.multiply(product.data(), in0.data(), c, 300);
    kScalarKernels.multiply_add(sum.data(), in0.data(), c, 300);
    const std::uint8_t coefficients[] = {c, 0x53};
    const std::uint8_t* const in[] = {in0.data(), in1.data()};
    kScalarKernels.combine(combined.data(), in, coefficients, 2, 300);
    for (std::size_t i = 0; i < 300; ++i) {
      REQUIRE(product[i] == gf_multiply(c, in0[i]));
      REQUIRE(sum[i] == (start[i] ^ product[i]));
      REQUIRE(combined[i] == (product[i] ^ gf_multiply(0x53, in1[i])));
    }
  }
}

TEST_CASE("every kernel set multiplies every byte by every constant like scalar") {
  Bytes in(256);
  for (std::size_t i = 0; i < 256; ++i) in[i] = static_cast<std::uint8_t>(i);
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    for (unsigned c = 0; c < 256; ++c) {
      Bytes out(256), expected(256);
      kernels->multiply(out.data(), in.data(), static_cast<std::uint8_t>(c), 256);
      kScalarKernels.multiply(expected.data(), in.data(), static_cast<std::uint8_t>(c), 256);
      REQUIRE(out == expected);
    }
  }
}

TEST_CASE("every kernel set multiplies and adds rows of any length and alignment like scalar") {
  CoefficientStream random(2, 0);
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    for (const std::size_t bytes : kLengths) {
      CAPTURE(bytes);
      for (const std::size_t gap : {0, 1, 13, 32, 63}) {
        for (const At at : {At::kEnd, At::kStart}) {
          const Row in = make_row(bytes, gap, at);
          const Row out = make_row(bytes, gap == 0 ? 0 : random.below(65), at);
          random.fill(in->bytes());
          random.fill(out->bytes());
          const auto c = static_cast<std::uint8_t>(random.below(256));
          Bytes expected = copy_of(out);

          kScalarKernels.multiply_add(expected.data(), in->data(), c, bytes);
          kernels->multiply_add(out->data(), in->data(), c, bytes);
          REQUIRE(copy_of(out) == expected);

          kScalarKernels.multiply(expected.data(), in->data(), c, bytes);
          kernels->multiply(out->data(), in->data(), c, bytes);
          REQUIRE(copy_of(out) == expected);
          REQUIRE(out->guards_intact());

          kernels->multiply(in->data(), in->data(), c, bytes);  // in place
          REQUIRE(copy_of(in) == expected);
          REQUIRE(in->guards_intact());
        }
      }
    }
  }
}

TEST_CASE("every kernel set combines rows of any length and alignment like scalar") {
  CoefficientStream random(3, 0);
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    for (const std::size_t bytes : kLengths) {
      CAPTURE(bytes);
      for (const std::size_t count : {0, 1, 2, 3, 7, 8, 13, 14, 64}) {
        CAPTURE(count);
        const auto in = make_rows(count, bytes, random);
        const auto out = make_rows(2, bytes, random);
        const auto in_data = data_of(in);
        const Bytes coefficients = random_bytes(count, random);
        Bytes expected(bytes);
        kScalarKernels.combine(expected.data(), in_data.data(), coefficients.data(), count, bytes);
        for (const auto& row : out) {
          kernels->combine(row->data(), in_data.data(), coefficients.data(), count, bytes);
          REQUIRE(copy_of(row) == expected);
          REQUIRE(row->guards_intact());
        }
      }
    }
  }
}

TEST_CASE("every kernel set combines long rows like scalar") {
  constexpr std::size_t kBytes = 40001, kCount = 18;
  CoefficientStream random(5, 0);
  const auto in = make_rows(kCount, kBytes, random);
  const auto in_data = data_of(in);
  const Bytes coefficients = random_bytes(kCount, random);
  Bytes expected(kBytes);
  kScalarKernels.combine(expected.data(), in_data.data(), coefficients.data(), kCount, kBytes);
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    const Row out = make_row(kBytes, 0);
    kernels->combine(out->data(), in_data.data(), coefficients.data(), kCount, kBytes);
    REQUIRE(copy_of(out) == expected);
    REQUIRE(out->guards_intact());
  }
}

TEST_CASE("every kernel set makes the product of any shape like scalar") {
  CoefficientStream random(4, 0);
  for (const Kernels* kernels : available_kernels()) {
    for (std::size_t rows = 0; rows <= 9; ++rows) {
      for (const std::size_t count : {0, 1, 2, 5, 64}) {
        for (const std::size_t bytes : {0, 1, 33, 64, 100, 257, 320}) {
          check_product(*kernels, rows, count, bytes, random);
        }
      }
    }
    // Either side of the panels of sources, with and without a panel.
    for (const std::size_t count : {127, 128, 129, 257}) {
      for (const std::size_t rows : {1, 4, 8, 9, 15}) {
        check_product(*kernels, rows, count, 581, random);
      }
    }
    for (const std::size_t bytes : kLengths) {
      check_product(*kernels, 3, 4, bytes, random);
      check_product(*kernels, 5, 9, bytes, random);
      check_product(*kernels, 11, 3, bytes, random);
    }
  }
}

TEST_CASE("every kernel set packs panels ahead of their use and makes the product like scalar") {
  CoefficientStream random(7, 0);
  struct Shape {
    std::size_t rows, count, bytes;
  };
  // Enough rows and bytes of sources for that: one panel and several, of even and odd numbers of
  // sources, more sources than steps, last tiles and strips that are not whole.
  const Shape shapes[] = {{33, 1, 262400}, {9, 3, 90001},  {35, 3, 90001}, {45, 130, 2113},
                          {32, 16, 16448}, {33, 64, 4161}, {17, 64, 4161}, {37, 300, 1100},
                          {34, 257, 1111}, {100, 5, 60000}};
  for (const Kernels* kernels : available_kernels()) {
    if (kernels == &kScalarKernels) continue;
    for (const auto& [rows, count, bytes] : shapes) {
      check_product(*kernels, rows, count, bytes, random);
    }
  }
}

TEST_CASE("every kernel set multiplies a panel as it does the panel's rows") {
  CoefficientStream random(6, 0);
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    const std::size_t strip = kernels->strip_bytes;
    for (const std::size_t rows : {1, 3, 4, 5, 9}) {
      for (const std::size_t count : {0, 1, 2, 129, 300}) {
        CAPTURE(rows);
        CAPTURE(count);
        const Row panel = make_row(count * strip, 0);
        random.fill(panel->bytes());
        const auto out = make_rows(rows, strip, random);
        const auto out_data = data_of(out);
        std::vector<const std::uint8_t*> in;
        for (std::size_t j = 0; j < count; ++j) in.push_back(panel->data() + j * strip);
        const Bytes coefficients = random_bytes(rows * (count + 1), random);
        kernels->combine_panel(out_data.data(), rows, panel->data(), count, coefficients.data(),
                               count + 1, false);
        Bytes expected(strip);
        for (std::size_t r = 0; r < rows; ++r) {
          kScalarKernels.combine(expected.data(), in.data(), &coefficients[r * (count + 1)], count,
                                 strip);
          REQUIRE(copy_of(out[r]) == expected);
        }
        kernels->combine_panel(out_data.data(), rows, panel->data(), count, coefficients.data(),
                               count + 1, true);
        for (const auto& row : out) {
          REQUIRE(copy_of(row) == Bytes(strip));
          REQUIRE(row->guards_intact());
        }
      }
    }
  }
}

TEST_CASE("the available kernel sets are found by name, best first, scalar last") {
  const auto available = available_kernels();
  REQUIRE(!available.empty());
  CHECK(available.back() == &kScalarKernels);
  for (const Kernels* kernels : available) CHECK(find_kernels(kernels->name) == kernels);
  CHECK(find_kernels("none such") == nullptr);
  CHECK(find_kernels("") == nullptr);
}

// Runs once plainly and once for each value that meson.build sets.
TEST_CASE("the set that FIRN_KERNELS names is in use, the best one otherwise") {
  const char* forced = std::getenv("FIRN_KERNELS");
  const Kernels* named = forced != nullptr ? find_kernels(forced) : nullptr;
  CHECK(&kernels() == (named != nullptr ? named : available_kernels().front()));
  if (forced != nullptr && std::string(forced) == "scalar") CHECK(&kernels() == &kScalarKernels);
}

}  // namespace
}  // namespace firn::codec
