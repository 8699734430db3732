#include "codec/encode.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "codec/span_basis.h"
#include "tests/codec/generation.h"

namespace firn::codec {
namespace {

// Block bytes of a coded block equal the combination that its vector names.
bool consistent(const Generation& generation, const CodedBlock& block) {
  return generation.encode(block.vector).payload == block.payload;
}

CodedBlock recode(const Kernels& kernels, const std::vector<CodedBlock>& held, std::size_t n,
                  std::size_t k, CoefficientStream& random) {
  std::vector<const std::uint8_t*> vectors, payloads;
  for (const CodedBlock& block : held) {
    vectors.push_back(block.vector.data());
    payloads.push_back(block.payload.data());
  }
  const Bytes mix = random_mix(held.size(), random);
  CodedBlock fresh{Bytes(n), Bytes(k)};
  mix_vectors(kernels, mix, vectors, fresh.vector);
  kernels.combine(fresh.payload.data(), payloads.data(), mix.data(), mix.size(), k);
  return fresh;
}

TEST_CASE("a random vector is never zero") {
  CoefficientStream random(30, 0);
  std::size_t of_one[256] = {};
  for (int i = 0; i < 255 * 40; ++i) ++of_one[random_vector(1, random)[0]];
  CHECK(of_one[0] == 0);
  CHECK(*std::min_element(of_one + 1, of_one + 256) > 0);
  CHECK(random_vector(64, random) != random_vector(64, random));
}

TEST_CASE("a unit vector names one source block") {
  CHECK(unit_vector(1, 0) == Bytes{1});
  CHECK(unit_vector(4, 2) == Bytes{0, 0, 1, 0});
}

TEST_CASE("a mix leaves no row out, and one row never as it is") {
  CoefficientStream random(31, 0);
  for (int i = 0; i < 2000; ++i) {
    for (const std::size_t rank : {1, 2, 64}) {
      const Bytes mix = random_mix(rank, random);
      REQUIRE(mix.size() == rank);
      REQUIRE(std::count(mix.begin(), mix.end(), 0) == 0);
    }
    REQUIRE(random_mix(1, random)[0] != 1);
  }
}

TEST_CASE(
    "a recoded block stays in the span, equals no held row, and keeps vector and payload "
    "together") {
  constexpr std::size_t kSize = 20, kBlockBytes = 37;
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    CoefficientStream random(32, 0);
    const Generation generation(kSize, kBlockBytes, random);
    SpanBasis basis(kSize);
    std::vector<CodedBlock> held;
    while (!basis.full()) {
      CodedBlock block =
          held.size() % 3 == 0 ? generation.systematic(held.size()) : generation.dense(random);
      if (!basis.insert(block.vector)) continue;
      held.push_back(std::move(block));
      for (int i = 0; i < 10; ++i) {
        const CodedBlock fresh = recode(*kernels, held, kSize, kBlockBytes, random);
        REQUIRE_FALSE(basis.is_innovative(fresh.vector));
        REQUIRE(consistent(generation, fresh));
        for (const CodedBlock& row : held) REQUIRE(fresh.vector != row.vector);
      }
    }
  }
}

TEST_CASE("a chain of relays passes the whole span on") {
  constexpr std::size_t kSize = 16, kBlockBytes = 24;
  CoefficientStream random(33, 0);
  const Generation generation(kSize, kBlockBytes, random);
  std::vector<CodedBlock> held;
  for (std::size_t i = 0; i < kSize; ++i) held.push_back(generation.systematic(i));
  for (int hop = 0; hop < 5; ++hop) {
    SpanBasis basis(kSize);
    std::vector<CodedBlock> next;
    for (std::size_t sent = 0; !basis.full(); ++sent) {
      REQUIRE(sent < kSize + 5);
      CodedBlock block = recode(kernels(), held, kSize, kBlockBytes, random);
      REQUIRE(consistent(generation, block));
      if (basis.insert(block.vector)) next.push_back(std::move(block));
    }
    held = std::move(next);
  }
}

}  // namespace
}  // namespace firn::codec
