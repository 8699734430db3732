#include "codec/span_basis.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "codec/gf256.h"
#include "tests/codec/generation.h"

namespace firn::codec {
namespace {

// A random combination of `rows`.
Bytes combination(const std::vector<Bytes>& rows, std::size_t n, CoefficientStream& random) {
  Bytes sum(n);
  for (const Bytes& row : rows) {
    kScalarKernels.multiply_add(sum.data(), row.data(),
                                static_cast<std::uint8_t>(random.below(256)), n);
  }
  return sum;
}

// The specification: rows kept in reduced form one by one, with nothing left out.
class OneByOne {
 public:
  explicit OneByOne(std::size_t n) : n_(n) {}
  bool insert(Bytes vector) {
    for (std::size_t r = 0; r < rows.size(); ++r)
      kernels().multiply_add(vector.data(), rows[r].data(), Bytes(vector)[pivots[r]], n_);
    const auto first =
        std::find_if(vector.begin(), vector.end(), [](std::uint8_t c) { return c != 0; });
    if (first == vector.end()) return false;
    const auto pivot = static_cast<std::size_t>(first - vector.begin());
    kernels().multiply(vector.data(), vector.data(), gf_inverse(*first), n_);
    for (Bytes& row : rows)
      kernels().multiply_add(row.data(), vector.data(), Bytes(row)[pivot], n_);
    rows.push_back(std::move(vector));
    pivots.push_back(pivot);
    return true;
  }
  std::vector<Bytes> rows;
  std::vector<std::size_t> pivots;

 private:
  const std::size_t n_;
};

// One of many kinds of vectors: dense, sparse, a unit vector, one that lies in the span, nothing.
Bytes any_vector(const std::vector<Bytes>& held, std::size_t n, CoefficientStream& random) {
  Bytes vector(n);
  switch (random.below(8)) {
    case 0:
      return unit_vector(n, random.below(static_cast<std::uint32_t>(n)));
    case 1:
      return combination(held, n, random);
    case 2:
      for (int i = 0; i < 3; ++i)
        vector[random.below(static_cast<std::uint32_t>(n))] =
            static_cast<std::uint8_t>(random.below(256));
      return vector;
    case 3:  // begins late
      vector = random_vector(n, random);
      std::fill_n(vector.begin(), random.below(static_cast<std::uint32_t>(n)), std::uint8_t{0});
      return vector;
    default:
      return random_vector(n, random);
  }
}

bool all_zero(const Bytes& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

TEST_CASE("the rank never falls, rises by one with each innovative vector, and ends at n") {
  for (const std::size_t n : {1, 2, 5, 64, 100}) {
    CAPTURE(n);
    CoefficientStream random(20, n);
    SpanBasis basis(n);
    CHECK(basis.generation_size() == n);
    for (std::size_t draws = 0; !basis.full(); ++draws) {
      REQUIRE(draws < n + 20);
      const std::size_t before = basis.rank();
      const Bytes vector = random_vector(n, random);
      const bool expected = basis.is_innovative(vector);
      REQUIRE(basis.rank() == before);
      REQUIRE(basis.insert(vector) == expected);
      REQUIRE(basis.rank() == before + (expected ? 1 : 0));
      REQUIRE_FALSE(basis.is_innovative(vector));
      REQUIRE_FALSE(basis.insert(vector));
    }
    CHECK(basis.rank() == n);
    CHECK_FALSE(basis.insert(random_vector(n, random)));
    CHECK_FALSE(basis.is_innovative(random_vector(n, random)));
  }
}

TEST_CASE("what lies in the span is redundant, what leaves it is innovative") {
  constexpr std::size_t kSize = 40;
  CoefficientStream random(21, 0);
  SpanBasis basis(kSize);
  std::vector<Bytes> held;
  CHECK_FALSE(basis.insert(Bytes(kSize)));  // the zero vector lies in every span
  while (basis.rank() < kSize) {
    const Bytes inside = combination(held, kSize, random);
    REQUIRE_FALSE(basis.is_innovative(inside));
    REQUIRE_FALSE(basis.insert(inside));

    // A fresh vector is as innovative with a part of the span added as without.
    const Bytes fresh = random_vector(kSize, random);
    Bytes shifted = combination(held, kSize, random);
    kScalarKernels.multiply_add(shifted.data(), fresh.data(), 1, kSize);
    const bool innovative = basis.is_innovative(fresh);
    REQUIRE(basis.insert(shifted) == innovative);
    if (innovative) held.push_back(fresh);
    REQUIRE(basis.rank() == held.size());
  }
}

TEST_CASE("sparse and unit vectors fill the span like dense ones") {
  constexpr std::size_t kSize = 30;
  CoefficientStream random(22, 0);
  SpanBasis basis(kSize);
  for (std::size_t i = 0; i < kSize; i += 2) REQUIRE(basis.insert(unit_vector(kSize, i)));
  Bytes two(kSize);
  two[0] = 7, two[2] = 9;
  CHECK_FALSE(basis.is_innovative(two));
  two[1] = 1;
  CHECK(basis.insert(two));
  CHECK_FALSE(basis.insert(unit_vector(kSize, 1)));
  for (std::size_t i = 3; i < kSize; i += 2) REQUIRE(basis.insert(unit_vector(kSize, i)));
  CHECK(basis.full());
}

// Kernel sets are fed alike, and must know the same of every vector and end with the same rows.
// Most vectors are dense, as most that peers send.
TEST_CASE("every kernel set keeps the same span, at sizes around those of blocks and vectors") {
  for (const std::size_t n : {67, 255, 256, 257, 333, 511, 512, 513, 1023, 1024}) {
    CAPTURE(n);
    CoefficientStream random(23, n);
    SpanBasis reference(n, kScalarKernels);
    std::vector<const Kernels*> sets;
    std::vector<SpanBasis> bases;
    for (const Kernels* kernels : available_kernels()) {
      sets.push_back(kernels);
      bases.emplace_back(n, *kernels);
    }
    std::vector<Bytes> held;
    while (!reference.full()) {
      Bytes vector;
      if (n < 300) {
        vector = any_vector(held, n, random);
      } else if (random.below(20) == 0) {  // in the span of a few, which is quickly made
        vector = combination(
            {held.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(held.size(), 10)),
             held.end()},
            n, random);
      } else {
        vector = random_vector(n, random);
      }
      const bool innovative = reference.insert(vector);
      for (std::size_t i = 0; i < bases.size(); ++i) {
        CAPTURE(sets[i]->name);
        REQUIRE(bases[i].insert(vector) == innovative);
      }
      if (innovative) held.push_back(std::move(vector));
    }
    reference.settle();
    for (std::size_t i = 0; i < bases.size(); ++i) {
      CAPTURE(sets[i]->name);
      bases[i].settle();
      for (std::size_t r = 0; r < n; ++r) {
        REQUIRE(bases[i].pivot(r) == reference.pivot(r));
        const auto row = bases[i].basis_row(r), wanted = reference.basis_row(r);
        REQUIRE(std::equal(row.begin(), row.end(), wanted.begin(), wanted.end()));
      }
    }
  }
}

TEST_CASE("in blocks the span is the same as row by row, at any time and for any vectors") {
  for (const std::size_t n : {64, 255, 256, 257, 300}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      CAPTURE(n);
      CAPTURE(seed);
      CoefficientStream random(28 + seed, n);
      SpanBasis basis(n);
      OneByOne reference(n);
      std::vector<Bytes> held;
      while (!basis.full()) {
        const Bytes vector = any_vector(held, n, random);
        const bool innovative = reference.insert(vector);
        REQUIRE(basis.is_innovative(vector) == innovative);
        REQUIRE(basis.insert(vector) == innovative);
        if (innovative) held.push_back(vector);
        REQUIRE(basis.rank() == reference.rows.size());
        if (random.below(40) == 0 && !basis.full()) {
          const Bytes z = basis.random_null_vector(random);
          REQUIRE_FALSE(basis.reaches(z));
          for (const Bytes& each : held) REQUIRE(dot(each, z) == 0);
        }
        if (random.below(80) == 0) basis.settle();
        if (random.below(20) != 0 && !basis.full()) continue;
        SpanBasis settled = basis;
        settled.settle();
        for (std::size_t r = 0; r < settled.rank(); ++r) {
          REQUIRE(settled.pivot(r) == reference.pivots[r]);
          const auto row = settled.basis_row(r);
          REQUIRE(Bytes(row.begin(), row.end()) == reference.rows[r]);
        }
      }
    }
  }
}

TEST_CASE("a null vector is orthogonal to all that the span holds") {
  for (const std::size_t n : {1, 2, 33, 64}) {
    CAPTURE(n);
    CoefficientStream random(24, n);
    SpanBasis basis(n);
    std::vector<Bytes> held;
    while (!basis.full()) {
      const Bytes z = basis.random_null_vector(random);
      REQUIRE(z.size() == n);
      REQUIRE_FALSE(all_zero(z));
      for (const Bytes& vector : held) REQUIRE(dot(vector, z) == 0);
      REQUIRE_FALSE(basis.reaches(z));
      Bytes vector = random_vector(n, random);
      if (basis.insert(vector)) held.push_back(std::move(vector));
    }
  }
}

TEST_CASE("a sender reaches a null vector exactly when it holds a vector not orthogonal to it") {
  constexpr std::size_t kSize = 24;
  CoefficientStream random(25, 0);
  SpanBasis receiver(kSize);
  std::vector<Bytes> held;
  while (receiver.rank() < 20) {
    Bytes vector = random_vector(kSize, random);
    if (receiver.insert(vector)) held.push_back(std::move(vector));
  }
  int reached = 0;
  for (int round = 0; round < 200; ++round) {
    const Bytes z = receiver.random_null_vector(random);
    SpanBasis sender(kSize);
    // Half of the senders hold nothing that the receiver lacks.
    for (int i = 0; i < 5; ++i) sender.insert(combination(held, kSize, random));
    REQUIRE_FALSE(sender.reaches(z));
    const Bytes other = random_vector(kSize, random);
    sender.insert(other);
    REQUIRE(sender.reaches(z) == (dot(other, z) != 0));
    if (sender.reaches(z)) {
      ++reached;
      REQUIRE(receiver.is_innovative(other));  // z is orthogonal to all that receiver has
    }
  }
  CHECK(reached > 180);  // all but about 1 in 256
}

TEST_CASE("null vectors are drawn evenly from the null space") {
  // n = 2 and one held vector: the 255 nonzero multiples of one vector.
  CoefficientStream random(26, 0);
  SpanBasis basis(2);
  basis.insert(Bytes{3, 5});
  std::vector<int> counts(256);
  for (int i = 0; i < 255 * 100; ++i) ++counts[basis.random_null_vector(random)[1]];
  CHECK(counts[0] == 0);
  for (std::size_t value = 1; value < 256; ++value) {
    REQUIRE(counts[value] > 50);
    REQUIRE(counts[value] < 150);
  }
}

TEST_CASE("dense vectors need about 1/255 more blocks than n") {
  // Expected extra blocks: sum over i = 1..n of 1 / (256^i - 1), about 1/255 + 1/65535.
  constexpr std::size_t kSize = 8, kGenerations = 20000;
  CoefficientStream random(27, 0);
  std::size_t drawn = 0;
  for (std::size_t generation = 0; generation < kGenerations; ++generation) {
    SpanBasis basis(kSize);
    for (; !basis.full(); ++drawn) basis.insert(random_vector(kSize, random));
  }
  const double extra = static_cast<double>(drawn) / kGenerations - kSize;
  CHECK(extra > 0.0029);  // 78 expected in all, deviation 9
  CHECK(extra < 0.0051);
}

TEST_CASE("a dot product adds up the products of the elements") {
  CHECK(dot(Bytes{}, Bytes{}) == 0);
  CHECK(dot(Bytes{2, 0, 7}, Bytes{3, 9, 1}) == (gf_multiply(2, 3) ^ 7));
}

}  // namespace
}  // namespace firn::codec
