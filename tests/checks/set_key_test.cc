#include "client/checks/set_key.h"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "codec/check_sums.h"
#include "codec/kernels.h"

namespace firn::checks {
namespace {

using Bytes = std::vector<std::uint8_t>;

template <class Range>
std::string hex(const Range& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// Of the test vector.
constexpr std::array<std::uint8_t, 32> kSetKey{
    0x5a, 0xc9, 0x71, 0x27, 0x93, 0xd5, 0xbc, 0xa9, 0x73, 0x6e, 0xbe, 0xb2, 0x95, 0xa0, 0xff, 0x75,
    0x73, 0x8e, 0xf7, 0xf4, 0xf8, 0xda, 0x63, 0xcb, 0x88, 0xa6, 0xc4, 0xc7, 0xa5, 0x83, 0xe5, 0x21};

std::uint64_t little_endian_at(const codec::SecretVector<std::uint8_t>& bytes, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t i = 8; i-- > 0;) word = word << 8 | bytes[at + i];
  return word;
}

// The figures come from an independent program that has nothing but the definitions.
TEST_CASE("key words, stage 1 and hash are those of the test vector") {
  const SetKey set(kSetKey);
  constexpr std::size_t kBlockBytes = 200, kTag = 8;
  const auto material = set.material(3, kBlockBytes, kTag);
  REQUIRE(material.size() == 2 * 16 + 256 * kTag);
  CHECK(hex(std::span(material).first(16)) == "abcac7b0bc0698b5f7f2c89c1bd2f92c");

  Bytes payload(kBlockBytes);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<std::uint8_t>(7 * i + 1);
  }
  std::vector<codec::CheckWord> words;
  for (std::size_t at = 0; at < 32; at += 16) {
    const std::uint64_t low = little_endian_at(material, at);
    const std::uint64_t high = little_endian_at(material, at + 8);
    words.push_back({low, high, low ^ high});
  }
  for (const codec::CheckKernels* kernels : codec::available_check_kernels()) {
    CAPTURE(kernels->name);
    Bytes y(256);
    kernels->convolve(y.data(), words.data(), payload.data(), payload.size());
    CHECK(hex(std::span(y).first(16)) == "7a091f73481f11514a610743382d105e");
    Bytes tag(kTag);
    codec::CheckKey(kBlockBytes, kTag, material, *kernels).hash(payload, tag);
    CHECK(hex(tag) == "87eb8765c3cecd16");
  }
  Bytes tag(kTag);
  set.generation_key(3, kBlockBytes).hash(payload, tag);
  CHECK(hex(tag) == "87eb8765c3cecd16");
}

TEST_CASE("no two keys are drawn alike") {
  std::set<std::string> keys;
  for (int i = 0; i < 100; ++i) CHECK(keys.insert(hex(SetKey::draw().bytes())).second);
}

TEST_CASE("each generation has key material of its own, of which a longer key has more") {
  const SetKey set(kSetKey);
  const auto first = set.material(0, 1000, 8), second = set.material(1, 1000, 8);
  CHECK(first.size() == 8 * 16 + 256 * 8);
  CHECK(first != second);
  CHECK(set.material(std::uint64_t{1} << 40, 1000, 8) != first);
  const auto longer = set.material(0, 1000, 16);
  CHECK(longer.size() == 8 * 16 + 256 * 16);
  CHECK(std::equal(first.begin(), first.end(), longer.begin()));
}

TEST_CASE("a receiver with the key's bytes accepts by the maker's sums") {
  const SetKey made = SetKey::draw();
  const SetKey received(made.bytes());
  const Bytes first(500, 3), second(500, 250);
  const std::uint8_t* const blocks[] = {first.data(), second.data()};
  const codec::CheckSums sums(made.generation_key(9, 500), blocks);
  const codec::CheckSums carried(8, sums.bytes());
  const codec::CheckKey key = received.generation_key(9, 500);
  CHECK(codec::accepts(key, carried, Bytes{0, 1}, second));
  CHECK_FALSE(codec::accepts(key, carried, Bytes{1, 0}, second));
  CHECK(codec::accepts(key, carried, Bytes{1, 1}, Bytes(500, 3 ^ 250)));
  CHECK_FALSE(codec::accepts(received.generation_key(8, 500), carried, Bytes{0, 1}, second));
}

}  // namespace
}  // namespace firn::checks
