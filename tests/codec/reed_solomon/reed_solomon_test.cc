#include "codec/reed_solomon/reed_solomon.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "codec/gf256.h"
#include "tests/codec/generation.h"

namespace firn::codec {
namespace {

struct CodeShape {
  std::size_t n, k;
};
const CodeShape kCodes[] = {{2, 1},    {3, 1},     {15, 11},   {40, 8},    {64, 63},
                            {100, 60}, {255, 254}, {255, 239}, {255, 223}, {255, 1}};

// By the definition: word[0] at x^(n-1) is zero at a^1 ... a^p. Apart from the code under test.
bool is_codeword(const Bytes& word, std::size_t p) {
  std::uint8_t root = 1;
  for (std::size_t j = 1; j <= p; ++j) {
    root = gf_multiply(root, 2);
    std::uint8_t value = 0;
    for (const std::uint8_t byte : word) value = gf_multiply(value, root) ^ byte;
    if (value != 0) return false;
  }
  return true;
}

Bytes random_codeword(const ReedSolomon& code, CoefficientStream& random) {
  Bytes word = random_bytes(code.length(), random);
  code.encode(std::span(word).first(code.data_bytes()), std::span(word).subspan(code.data_bytes()));
  return word;
}

// The first places of a shuffle.
std::vector<std::uint8_t> random_places(std::size_t n, std::size_t count,
                                        CoefficientStream& random) {
  std::vector<std::uint8_t> places(n);
  std::iota(places.begin(), places.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < count; ++i)
    std::swap(places[i], places[i + random.below(static_cast<std::uint32_t>(n - i))]);
  places.resize(count);
  return places;
}

// Other bytes at the first `errors` places, any bytes at the others.
Bytes damaged(Bytes word, const std::vector<std::uint8_t>& places, std::size_t errors,
              CoefficientStream& random) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::uint8_t value[1];
    if (i < errors)
      random.fill_nonzero(value);
    else
      random.fill(value);
    word[places[i]] ^= value[0];
  }
  return word;
}

TEST_CASE("Reed-Solomon: what is encoded is zero at the generator's roots") {
  CoefficientStream random(60, 0);
  for (const CodeShape& shape : kCodes) {
    const std::size_t n = shape.n, k = shape.k;  // CAPTURE takes no structured bindings
    CAPTURE(n);
    CAPTURE(k);
    const ReedSolomon code(n, k);
    for (int run = 0; run < 5; ++run) CHECK(is_codeword(random_codeword(code, random), n - k));
  }
}

TEST_CASE("Reed-Solomon: every e errors and s erasures with 2e + s <= n - k are corrected") {
  CoefficientStream random(61, 0);
  for (const CodeShape& shape : kCodes) {
    const std::size_t n = shape.n, k = shape.k;  // CAPTURE takes no structured bindings
    CAPTURE(n);
    CAPTURE(k);
    const ReedSolomon code(n, k);
    const std::size_t p = n - k;
    for (int run = 0; run < 300; ++run) {
      const auto errors = random.below(static_cast<std::uint32_t>(p / 2 + 1));
      // Half of the runs are at the code's limit.
      const std::size_t rest = p - 2 * errors;
      const std::size_t erasures =
          run % 2 == 0 ? rest : random.below(static_cast<std::uint32_t>(rest + 1));
      const Bytes word = random_codeword(code, random);
      const auto places = random_places(n, std::min(n, errors + erasures), random);
      Bytes received = damaged(word, places, errors, random);
      const std::vector<std::uint8_t> erased(places.begin() + errors, places.end());
      const auto decoded = code.decode(received, erased);
      REQUIRE(decoded.ok);
      CHECK(decoded.errors == errors);
      CHECK(decoded.erasures == erased.size());
      REQUIRE(received == word);
    }
  }
}

TEST_CASE("Reed-Solomon: beyond its ability a word is left alone, or becomes a codeword") {
  // The share of wrong words is that of the words within reach of some codeword: for p parity
  // bytes and t = p / 2 errors about C(n, t) 255^t / 256^p, less than 1 / t!.
  CoefficientStream random(62, 0);
  const ReedSolomon code(255, 239);
  int mistaken = 0;
  const int runs = 2000;
  for (int run = 0; run < runs; ++run) {
    const Bytes word = random_codeword(code, random);
    const auto places = random_places(255, 9 + random.below(40), random);
    const Bytes before = damaged(word, places, places.size(), random);
    Bytes received = before;
    const auto decoded = code.decode(received);
    if (!decoded.ok) {
      REQUIRE(received == before);
      continue;
    }
    ++mistaken;
    REQUIRE(is_codeword(received, 16));
    REQUIRE(decoded.errors <= 8);
  }
  // C(255, 8) 255^8 / 256^16 = 2.3e-5: none is expected, and three would be a fault.
  CHECK(mistaken < 3);
}

TEST_CASE("Reed-Solomon: a small code mistakes as many words as theory says") {
  // (255, 251): a word far from all codewords is within two errors of one with probability
  // C(255, 2) 255^2 / 256^4 (and a little for fewer errors) = 0.490.
  CoefficientStream random(63, 0);
  const ReedSolomon code(255, 251);
  int mistaken = 0;
  const int runs = 4000;
  for (int run = 0; run < runs; ++run) {
    Bytes received = random_bytes(255, random);
    if (code.decode(received).ok) {
      REQUIRE(is_codeword(received, 4));
      ++mistaken;
    }
  }
  // Four standard deviations of 0.0079.
  CHECK(mistaken / double{runs} == doctest::Approx(0.490).epsilon(0.065));
}

TEST_CASE("Reed-Solomon: more erasures than parity bytes fail") {
  CoefficientStream random(64, 0);
  const ReedSolomon code(30, 20);
  Bytes word = random_codeword(code, random);
  CHECK(code.decode(word, random_places(30, 10, random)).ok);
  CHECK_FALSE(code.decode(word, random_places(30, 11, random)).ok);
}

TEST_CASE("Reed-Solomon: erasures whose bytes were right all along do no harm") {
  CoefficientStream random(65, 0);
  const ReedSolomon code(255, 239);
  const Bytes word = random_codeword(code, random);
  for (int run = 0; run < 200; ++run) {
    const auto places = random_places(255, 2 + 12, random);
    Bytes received = word;
    for (int i = 0; i < 2; ++i) received[places[static_cast<std::size_t>(i)]] ^= 0x5a;
    const std::vector<std::uint8_t> erased(places.begin() + 2, places.end());
    REQUIRE(code.decode(received, erased).ok);
    REQUIRE(received == word);
  }
}

TEST_CASE("Reed-Solomon: codewords as columns decode as they do alone, with every kernel set") {
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    CoefficientStream random(66, 0);
    const ReedSolomon code(60, 44);
    const std::size_t count = 77;
    std::vector<Bytes> rows;
    for (std::size_t i = 0; i < 60; ++i) rows.push_back(random_bytes(count, random));
    std::vector<std::uint8_t*> pointers_to_rows;
    for (Bytes& row : rows) pointers_to_rows.push_back(row.data());
    code.encode_columns(*kernels, pointers_to_rows.data(), pointers_to_rows.data() + 44, count);
    const std::vector<Bytes> sent = rows;
    std::vector<std::vector<std::uint8_t>> erased(count);
    std::vector<Bytes> alone(count);
    std::vector<ReedSolomon::Decoded> expected(count);
    for (std::size_t c = 0; c < count; ++c) {
      const std::size_t errors = c % 11, erasures = c % 5;  // too many in some columns
      const auto places = random_places(60, errors + erasures, random);
      Bytes word;
      for (const Bytes& row : rows) word.push_back(row[c]);
      REQUIRE(is_codeword(word, 16));
      alone[c] = damaged(word, places, errors, random);
      for (std::size_t i = 0; i < 60; ++i) rows[i][c] = alone[c][i];
      erased[c].assign(places.begin() + static_cast<std::ptrdiff_t>(errors), places.end());
      expected[c] = code.decode(alone[c], erased[c]);
      CHECK(expected[c].ok == (2 * errors + erasures <= 16));
    }
    const auto results = code.decode_columns(*kernels, pointers_to_rows.data(), count, erased);
    for (std::size_t c = 0; c < count; ++c) {
      CHECK(results[c].ok == expected[c].ok);
      CHECK(results[c].errors == expected[c].errors);
      for (std::size_t i = 0; i < 60; ++i) REQUIRE(rows[i][c] == alone[c][i]);
      if (results[c].ok)
        for (std::size_t i = 0; i < 60; ++i) REQUIRE(rows[i][c] == sent[i][c]);
    }
  }
}

}  // namespace
}  // namespace firn::codec
