// The kernels for block checks, each set that this CPU can run, against the scalar one.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "codec/kernels.h"
#include "tests/codec/generation.h"
#include "tests/codec/guarded_row.h"

namespace firn::codec {
namespace {

constexpr std::size_t kResultBytes = 256;

std::vector<CheckWord> random_words(std::size_t count, CoefficientStream& random) {
  std::vector<CheckWord> words(count);
  for (CheckWord& word : words) {
    word.low = random.next_u64();
    word.high = random.next_u64();
    word.sum = word.low ^ word.high;
  }
  return words;
}

// One payload of `bytes` bytes that begins or ends at a forbidden page, through every set.
void check_convolution(std::size_t bytes, GuardedRow::At at, std::size_t gap,
                       CoefficientStream& random) {
  CAPTURE(bytes);
  GuardedRow payload(bytes, gap, at), y(kResultBytes, gap, at);
  random.fill(payload.bytes());
  const auto words = random_words((bytes + 127) / 128, random);
  Bytes expected(kResultBytes);
  kScalarCheckKernels.convolve(expected.data(), words.data(), payload.data(), bytes);
  for (const CheckKernels* kernels : available_check_kernels()) {
    CAPTURE(kernels->name);
    random.fill(y.bytes());
    kernels->convolve(y.data(), words.data(), payload.data(), bytes);
    REQUIRE(Bytes(y.bytes().begin(), y.bytes().end()) == expected);
    REQUIRE(y.guards_intact());
    REQUIRE(payload.guards_intact());
  }
}

TEST_CASE("every check kernel set convolves payloads of any length and alignment like scalar") {
  CoefficientStream random(11, 0);
  for (std::size_t bytes = 0; bytes <= 520; ++bytes) {
    check_convolution(bytes, GuardedRow::At::kEnd, 0, random);
    check_convolution(bytes, GuardedRow::At::kStart, random.below(65), random);
  }
  // Around the 16 groups that some sets take at once.
  for (std::size_t bytes = 1920; bytes <= 2304; bytes += 1 + random.below(24)) {
    check_convolution(bytes, GuardedRow::At::kEnd, random.below(2), random);
  }
}

TEST_CASE("every check kernel set convolves large payloads like scalar") {
  CoefficientStream random(12, 0);
  for (const std::size_t bytes : {4096, 10000, 16383, 16384, 16385, 32768, 65535, 65536}) {
    check_convolution(bytes, GuardedRow::At::kEnd, 0, random);
  }
}

TEST_CASE("every check kernel set weighs rows of every width and number like scalar") {
  CoefficientStream random(13, 0);
  for (const std::size_t width : {4, 8, 16}) {
    CAPTURE(width);
    for (std::size_t count = 0; count <= 260; count += count < 140 ? 1 : 29) {
      CAPTURE(count);
      GuardedRow rows(count * width, 0), coefficients(count, 0), out(width, 0);
      random.fill(rows.bytes());
      random.fill(coefficients.bytes());
      Bytes expected(width);
      kScalarCheckKernels.weigh(expected.data(), rows.data(), width, coefficients.data(), count);
      for (const CheckKernels* kernels : available_check_kernels()) {
        CAPTURE(kernels->name);
        random.fill(out.bytes());
        kernels->weigh(out.data(), rows.data(), width, coefficients.data(), count);
        REQUIRE(Bytes(out.bytes().begin(), out.bytes().end()) == expected);
        REQUIRE(out.guards_intact());
      }
    }
  }
}

TEST_CASE("every product of two bytes is right in every check kernel set") {
  for (const CheckKernels* kernels : available_check_kernels()) {
    CAPTURE(kernels->name);
    for (unsigned c = 0; c < 256; ++c) {
      const auto coefficient = static_cast<std::uint8_t>(c);
      for (unsigned b = 0; b < 256; b += 16) {
        std::uint8_t row[16], expected[16], out[16];
        for (unsigned j = 0; j < 16; ++j) row[j] = static_cast<std::uint8_t>(b + j);
        kScalarKernels.multiply(expected, row, coefficient, 16);
        kernels->weigh(out, row, 16, &coefficient, 1);
        REQUIRE(Bytes(out, out + 16) == Bytes(expected, expected + 16));
      }
    }
  }
}

// Runs once plainly and once for each value that meson.build sets.
TEST_CASE("FIRN_KERNELS chooses the check kernels as well") {
  const auto available = available_check_kernels();
  REQUIRE(!available.empty());
  CHECK(available.back() == &kScalarCheckKernels);
  CHECK(&check_kernels(kScalarKernels) == &kScalarCheckKernels);
  CHECK(&check_kernels(*available_kernels().front()) == available.front());
  const char* forced = std::getenv("FIRN_KERNELS");
  const Kernels* named = forced != nullptr ? find_kernels(forced) : nullptr;
  CHECK(&check_kernels() == (named != nullptr ? &check_kernels(*named) : available.front()));
}

}  // namespace
}  // namespace firn::codec
