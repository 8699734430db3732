// Keys and sums of block checks: what they are, what they accept, what they refuse.
#include <doctest/doctest.h>

#include <algorithm>

#include "codec/check_key.h"
#include "codec/check_sums.h"
#include "codec/coding_vectors.h"
#include "codec/encode.h"
#include "codec/gf256.h"
#include "tests/codec/generation.h"

namespace firn::codec {
namespace {

const std::size_t kTagLengths[] = {4, 8, 16};

CheckKey random_key(std::size_t k, std::size_t t, CoefficientStream& random,
                    const CheckKernels& kernels = check_kernels()) {
  return {k, t, random_bytes(CheckKey::material_bytes(k, t), random), kernels};
}

Bytes hash(const CheckKey& key, const Bytes& payload) {
  Bytes tag(key.tag_bytes());
  key.hash(payload, tag);
  return tag;
}

// a x + b y
Bytes combination(std::uint8_t a, const Bytes& x, std::uint8_t b, const Bytes& y) {
  Bytes result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    result[i] = gf_multiply(a, x[i]) ^ gf_multiply(b, y[i]);
  }
  return result;
}

// The definition at CheckKey, by polynomials as lists of coefficients and from the key's material.
Bytes defined_hash(const Bytes& material, std::size_t t, const Bytes& payload) {
  const std::size_t groups = (payload.size() + 127) / 128;
  Bytes y(255);
  for (std::size_t i = 0; i < groups; ++i) {
    for (std::size_t a = 0; a < 128 && 128 * i + a < payload.size(); ++a) {
      for (std::size_t b = 0; b < 128; ++b) {
        const bool bit = (material[16 * i + b / 8] >> (b % 8) & 1) != 0;
        if (bit) y[127 - a + b] ^= payload[128 * i + a];
      }
    }
  }
  Bytes tag(t);
  for (std::size_t d = 0; d < y.size(); ++d) {
    for (std::size_t j = 0; j < t; ++j) {
      tag[j] ^= gf_multiply(material[16 * groups + d * t + j], y[d]);
    }
  }
  return tag;
}

// A generation with a key and its sums, and coded blocks to judge.
struct Judged {
  Generation generation;
  CheckKey key;
  CheckSums sums;

  Judged(std::size_t n, std::size_t k, std::size_t t, CoefficientStream& random)
      : generation(n, k, random), key(random_key(k, t, random)), sums(key, blocks()) {}

  std::vector<const std::uint8_t*> blocks() const {
    std::vector<const std::uint8_t*> result;
    for (std::size_t i = 0; i < generation.n; ++i) {
      result.push_back(generation.source.data() + i * generation.k);
    }
    return result;
  }
  bool accept(const CodedBlock& block) const {
    return accepts(key, sums, block.vector, block.payload);
  }
};

TEST_CASE("the hash of a known key and payload is that of an independent program") {
  Bytes material(CheckKey::material_bytes(200, 8)), payload(200);
  REQUIRE(material.size() == 2 * 16 + 256 * 8);
  for (std::size_t i = 0; i < material.size(); ++i) {
    material[i] = static_cast<std::uint8_t>((5 * i * i + 3 * i + 17) % 251);
  }
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<std::uint8_t>(7 * i + 1);
  }
  const Bytes expected = {0x2f, 0x67, 0xab, 0x08, 0xd9, 0x4b, 0x62, 0xcf};
  for (const CheckKernels* kernels : available_check_kernels()) {
    CAPTURE(kernels->name);
    CHECK(hash({200, 8, material, *kernels}, payload) == expected);
  }
}

TEST_CASE("the hash is its definition for any block length and tag length") {
  CoefficientStream random(21, 0);
  for (const std::size_t t : kTagLengths) {
    CAPTURE(t);
    for (const std::size_t k : {1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 255, 256, 257, 1000}) {
      CAPTURE(k);
      const Bytes material = random_bytes(CheckKey::material_bytes(k, t), random);
      const Bytes payload = random_bytes(k, random);
      const Bytes expected = defined_hash(material, t, payload);
      for (const CheckKernels* kernels : available_check_kernels()) {
        CAPTURE(kernels->name);
        REQUIRE(hash({k, t, material, *kernels}, payload) == expected);
      }
    }
  }
}

TEST_CASE("the hash is linear over GF(2^8)") {
  CoefficientStream random(22, 0);
  for (const CheckKernels* kernels : available_check_kernels()) {
    CAPTURE(kernels->name);
    for (int round = 0; round < 60; ++round) {
      const std::size_t k = 1 + random.below(700), t = kTagLengths[round % 3];
      const CheckKey key = random_key(k, t, random, *kernels);
      const Bytes x = random_bytes(k, random), y = random_bytes(k, random);
      const auto a = static_cast<std::uint8_t>(random.below(256));
      const auto b = static_cast<std::uint8_t>(random.below(256));
      REQUIRE(hash(key, combination(a, x, b, y)) == combination(a, hash(key, x), b, hash(key, y)));
    }
  }
}

TEST_CASE("bytes behind the end of a block count as zeros") {
  CoefficientStream random(23, 0);
  const std::size_t k = 300, padded = 384;
  const Bytes material = random_bytes(CheckKey::material_bytes(k, 8), random);
  REQUIRE(material.size() == CheckKey::material_bytes(padded, 8));
  Bytes payload = random_bytes(k, random);
  const Bytes tag = hash({k, 8, material}, payload);
  payload.resize(padded);
  CHECK(hash({padded, 8, material}, payload) == tag);
}

TEST_CASE("hashes of many payloads are those of each") {
  CoefficientStream random(24, 0);
  const CheckKey key = random_key(777, 8, random);
  std::vector<Bytes> payloads;
  for (int i = 0; i < 9; ++i) payloads.push_back(random_bytes(777, random));
  Bytes tags(9 * 8), expected;
  key.hash_rows(pointers(payloads), tags);
  for (const Bytes& payload : payloads) {
    const Bytes tag = hash(key, payload);
    expected.insert(expected.end(), tag.begin(), tag.end());
  }
  CHECK(tags == expected);
  key.hash_rows({}, {});
}

TEST_CASE("every coded block and every recoding of coded blocks is accepted") {
  CoefficientStream random(25, 0);
  for (const std::size_t t : kTagLengths) {
    for (const std::size_t n : {1, 2, 16, 64, 70}) {
      const std::size_t k = 100 + random.below(400);
      const Judged judged(n, k, t, random);
      for (std::size_t i = 0; i < n; ++i) REQUIRE(judged.accept(judged.generation.systematic(i)));
      REQUIRE(judged.accept(judged.generation.encode(Bytes(n))));  // zero, of no use but true
      CodedBlock mixed = judged.generation.dense(random);
      for (int hop = 0; hop < 20; ++hop) {
        const CodedBlock other = judged.generation.dense(random);
        const auto a = static_cast<std::uint8_t>(random.below(256));
        const auto b = static_cast<std::uint8_t>(random.below(256));
        mixed = {combination(a, mixed.vector, b, other.vector),
                 combination(a, mixed.payload, b, other.payload)};
        REQUIRE(judged.accept(mixed));
      }
    }
  }
}

TEST_CASE("a block with any byte of payload or vector changed is refused") {
  CoefficientStream random(26, 0);
  const Judged judged(20, 300, 8, random);
  const CodedBlock good = judged.generation.dense(random);
  REQUIRE(judged.accept(good));
  for (std::size_t i = 0; i < good.payload.size(); ++i) {
    CodedBlock bad = good;
    bad.payload[i] ^= static_cast<std::uint8_t>(1u << random.below(8));
    REQUIRE_FALSE(judged.accept(bad));
  }
  for (std::size_t i = 0; i < good.vector.size(); ++i) {
    CodedBlock bad = good;
    bad.vector[i] ^= static_cast<std::uint8_t>(1 + random.below(255));
    REQUIRE_FALSE(judged.accept(bad));
  }
}

TEST_CASE("a block with bytes swapped, moved by a group or made up is refused") {
  CoefficientStream random(27, 0);
  const Judged judged(16, 1024, 8, random);
  for (int round = 0; round < 200; ++round) {
    const CodedBlock good = judged.generation.dense(random);
    CodedBlock swapped = good;
    const std::size_t at = random.below(1024 - 128);
    if (good.payload[at] != good.payload[at + 128]) {
      std::swap(swapped.payload[at], swapped.payload[at + 128]);
      REQUIRE_FALSE(judged.accept(swapped));
    }
    CodedBlock moved = good;
    std::rotate(moved.payload.begin(), moved.payload.begin() + 128, moved.payload.end());
    REQUIRE_FALSE(judged.accept(moved));
    REQUIRE_FALSE(judged.accept({good.vector, random_bytes(1024, random)}));
  }
}

TEST_CASE("with another generation's key or sums true blocks are refused") {
  CoefficientStream random(28, 0);
  const Judged judged(16, 500, 8, random), other(16, 500, 8, random);
  const CodedBlock good = judged.generation.dense(random);
  CHECK_FALSE(accepts(other.key, judged.sums, good.vector, good.payload));
  CHECK_FALSE(accepts(judged.key, other.sums, good.vector, good.payload));
}

TEST_CASE("sums travel as bytes") {
  CoefficientStream random(29, 0);
  for (const std::size_t t : kTagLengths) {
    const Judged judged(33, 250, t, random);
    const CheckSums received(t, judged.sums.bytes());
    CHECK(received.generation_size() == 33);
    CHECK(received.bytes().size() == 33 * t);
    const CodedBlock good = judged.generation.dense(random);
    CHECK(accepts(judged.key, received, good.vector, good.payload));
    Bytes expected(t), tag(t);
    for (std::size_t i = 0; i < 33; ++i) {
      for (std::size_t j = 0; j < t; ++j) {
        expected[j] ^= gf_multiply(good.vector[i], received.bytes()[i * t + j]);
      }
    }
    received.combine(good.vector, tag);
    CHECK(tag == expected);
  }
}

// The bound at CheckKey for a tag of one byte: whatever the error is, chosen without the key, its
// hash begins with a zero byte for one key in 256.
TEST_CASE("one key in 256 lets an error pass a check of one byte") {
  CoefficientStream random(30, 0);
  constexpr std::size_t kBytes = 300, kKeys = 25600;
  std::vector<Bytes> errors(4, Bytes(kBytes));
  errors[0][77] = 0x10;                   // one bit
  errors[1][5] = errors[1][5 + 128] = 1;  // the same in two groups
  std::fill(errors[2].begin(), errors[2].end(), std::uint8_t{0xff});
  random.fill(errors[3]);
  std::size_t passed[4] = {};
  for (std::size_t i = 0; i < kKeys; ++i) {
    const CheckKey key = random_key(kBytes, 4, random);
    for (std::size_t e = 0; e < errors.size(); ++e) passed[e] += hash(key, errors[e])[0] == 0;
  }
  for (const std::size_t count : passed) {  // 100 expected, standard deviation 10
    CHECK(count > 60);
    CHECK(count < 140);
  }
}

TEST_CASE("a wiped piece of memory is all zeros") {
  Bytes secret(100, 7);
  wipe(secret.data(), 60);
  CHECK(std::all_of(secret.begin(), secret.begin() + 60, [](auto byte) { return byte == 0; }));
  CHECK(std::all_of(secret.begin() + 60, secret.end(), [](auto byte) { return byte == 7; }));
  wipe(nullptr, 0);
}

}  // namespace
}  // namespace firn::codec
