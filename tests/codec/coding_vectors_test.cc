#include "codec/coding_vectors.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "codec/encode.h"
#include "codec/span_basis.h"
#include "tests/codec/generation.h"

namespace firn::codec {
namespace {

std::size_t nonzeros(const Bytes& vector) {
  return vector.size() - static_cast<std::size_t>(std::count(vector.begin(), vector.end(), 0));
}

struct Count {
  double mean, deviation;  // of the mean
};

// Blocks drawn beyond n until the rank is n, over many generations.
Count extra_blocks(CoefficientMode mode, std::size_t n, std::size_t generations, double density) {
  double sum = 0, squares = 0;
  for (std::size_t g = 0; g < generations; ++g) {
    CodingVectors vectors(mode, n, CoefficientStream(80, g), density);
    SpanBasis basis(n);
    double drawn = 0;
    for (; !basis.full(); ++drawn) basis.insert(vectors.next());
    const double extra = drawn - static_cast<double>(n);
    sum += extra;
    squares += extra * extra;
  }
  const auto count = static_cast<double>(generations);
  const double mean = sum / count;
  return {mean, std::sqrt((squares / count - mean * mean) / count)};
}

// Expected redundant blocks where vectors are uniform over GF(q)^n without zero: at rank r, one of
// (q^n - q^r) / (q^n - 1) is innovative.
double expected_extra(double q, std::size_t n) {
  double extra = 0;
  for (std::size_t r = 0; r < n; ++r) {
    const double all = std::pow(q, static_cast<double>(n)) - 1;
    extra += all / (all + 1 - std::pow(q, static_cast<double>(r))) - 1;
  }
  return extra;
}

TEST_CASE("dense vectors need 1/255 block more than n, binary ones 1.6") {
  CHECK(expected_extra(256, 16) == doctest::Approx(1.0 / 255 + 1.0 / 65535).epsilon(0.01));
  CHECK(expected_extra(2, 32) == doctest::Approx(1.6067).epsilon(0.001));

  const Count dense = extra_blocks(CoefficientMode::kDense, 16, 20000, 1);
  CHECK(std::abs(dense.mean - expected_extra(256, 16)) < 4 * dense.deviation);
  CHECK(dense.deviation < 0.001);
  const Count binary = extra_blocks(CoefficientMode::kBinary, 32, 4000, 1);
  CHECK(std::abs(binary.mean - expected_extra(2, 32)) < 4 * binary.deviation);
  CHECK(binary.deviation < 0.05);
}

TEST_CASE("systematic vectors need no block more than n, and dense ones for what was lost") {
  const Count complete = extra_blocks(CoefficientMode::kSystematic, 20, 100, 1);
  CHECK(complete.mean == 0);

  // Three in ten source blocks lost: what is redundant are the dense blocks, as with dense vectors.
  constexpr std::size_t kSize = 20, kGenerations = 20000;
  std::size_t redundant = 0;
  double expected = 0;
  for (std::size_t g = 0; g < kGenerations; ++g) {
    CoefficientStream loss(81, g);
    CodingVectors vectors(CoefficientMode::kSystematic, kSize, CoefficientStream(82, g));
    SpanBasis basis(kSize);
    for (std::size_t i = 0; i < kSize; ++i) {
      const Bytes vector = vectors.next();
      REQUIRE(vector == unit_vector(kSize, i));
      if (loss.below(10) >= 3) basis.insert(vector);
    }
    if (!basis.full()) expected += 1.0 / 255 + 1.0 / 65535;
    while (!basis.full()) redundant += basis.insert(vectors.next()) ? 0 : 1;
  }
  CHECK(std::abs(static_cast<double>(redundant) - expected) < 4 * std::sqrt(expected));
}

// A receiver of rank n - 1 whose null vector has the given weight: what lies in the first `weight`
// columns it has up to one dimension, the other columns it has as source blocks.
SpanBasis basis_lacking_one(std::size_t n, std::size_t weight, CoefficientStream& random) {
  Bytes z(n);
  random.fill_nonzero(std::span(z).first(weight));
  SpanBasis basis(n);
  for (std::size_t i = weight; i < n; ++i) basis.insert(unit_vector(n, i));
  for (std::size_t i = 1; i < weight; ++i) {  // orthogonal to z: z_i e_0 + z_0 e_i
    Bytes vector(n);
    vector[0] = z[i];
    vector[i] = z[0];
    basis.insert(vector);
  }
  REQUIRE(basis.rank() == n - 1);
  return basis;
}

TEST_CASE("sparse vectors are redundant as often as their density and the null vector say") {
  constexpr std::size_t kSize = 40, kDraws = 20000;
  CoefficientStream random(83, 0);
  for (const double density : {0.05, 0.2, 1.0}) {
    for (const std::size_t weight : {1, 3, 10, 40}) {
      CAPTURE(density);
      CAPTURE(weight);
      const SpanBasis basis = basis_lacking_one(kSize, weight, random);
      CodingVectors vectors(CoefficientMode::kSparse, kSize, CoefficientStream(84, weight),
                            density);
      std::size_t redundant = 0;
      for (std::size_t i = 0; i < kDraws; ++i) redundant += !basis.is_innovative(vectors.next());
      // Zero vectors are redundant too, but they are not drawn.
      const double zero = std::pow(1 - density, kSize);
      const double expected = (redundancy_of_sparse(density, weight) - zero) / (1 - zero);
      const double deviation = std::sqrt(expected * (1 - expected) / kDraws);
      CHECK(std::abs(static_cast<double>(redundant) / kDraws - expected) < 4 * deviation + 1e-9);
    }
  }
}

TEST_CASE("sparse vectors have the share of nonzero coefficients asked for") {
  constexpr std::size_t kSize = 100, kDraws = 2000;
  for (const double density : {0.03, 0.5, 1.0}) {
    CAPTURE(density);
    CodingVectors vectors(CoefficientMode::kSparse, kSize, CoefficientStream(85, 0), density);
    std::size_t found = 0;
    for (std::size_t i = 0; i < kDraws; ++i) found += nonzeros(vectors.next());
    const double share = static_cast<double>(found) / (kSize * kDraws);
    // Leaving out the zero vectors raises the share a little where they are likely.
    const double expected = density / (1 - std::pow(1 - density, kSize));
    const double deviation = std::sqrt(expected * (1 - expected) / (kSize * kDraws));
    CHECK(std::abs(share - expected) < 4 * deviation + 1e-9);
  }
}

TEST_CASE("no mode draws the zero vector, and each draws the same from the same seed") {
  for (const CoefficientMode mode : {CoefficientMode::kDense, CoefficientMode::kSparse,
                                     CoefficientMode::kBinary, CoefficientMode::kSystematic}) {
    CodingVectors vectors(mode, 3, CoefficientStream(86, 0), 0.02);
    CodingVectors again(mode, 3, CoefficientStream(86, 0), 0.02);
    for (int i = 0; i < 1000; ++i) {
      const Bytes vector = vectors.next();
      REQUIRE(vector == again.next());
      REQUIRE(nonzeros(vector) > 0);
      if (mode == CoefficientMode::kBinary) {
        REQUIRE(*std::max_element(vector.begin(), vector.end()) == 1);
      }
    }
  }
}

TEST_CASE("a sparse mix has as many factors as asked for, at even places") {
  CoefficientStream random(87, 0);
  std::vector<int> used(20);
  for (int i = 0; i < 4000; ++i) {
    const Bytes mix = sparse_mix(20, 5, random);
    REQUIRE(nonzeros(mix) == 5);
    for (std::size_t j = 0; j < mix.size(); ++j) used[j] += mix[j] != 0;
  }
  for (const int count : used) {  // 1000 expected, deviation 27
    CHECK(count > 880);
    CHECK(count < 1120);
  }
  CHECK(nonzeros(sparse_mix(3, 5, random)) == 3);
  for (int i = 0; i < 1000; ++i) REQUIRE(sparse_mix(1, 2, random)[0] > 1);
}

}  // namespace
}  // namespace firn::codec
