#include "client/checks/set_key.h"

#include <doctest/doctest.h>

#include <numeric>
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

std::array<std::uint8_t, 32> counting_from(unsigned first) {
  std::array<std::uint8_t, 32> bytes;
  std::iota(bytes.begin(), bytes.end(), static_cast<std::uint8_t>(first));
  return bytes;
}

const std::array<std::uint8_t, 32> kMaster = counting_from(0);
const ContentId kContent{counting_from(0x40)};
const PeerId kReceiver{counting_from(0x80)};

std::uint64_t little_endian_at(const codec::SecretVector<std::uint8_t>& bytes, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t i = 8; i-- > 0;) word = word << 8 | bytes[at + i];
  return word;
}

// The figures come from an independent program that has nothing but the definitions.
TEST_CASE("set key, key words, stage 1 and hash are those of the test vector") {
  const SetKey set = SetKey::for_receiver(kMaster, kContent, kReceiver, 0);
  CHECK(hex(set.bytes()) == "5ac9712793d5bca9736ebeb295a0ff75738ef7f4f8da63cb88a6c4c7a583e521");

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

TEST_CASE("master, content, receiver, set number and pool index each give another key") {
  std::set<std::string> keys;
  const auto add = [&](const SetKey& key) { CHECK(keys.insert(hex(key.bytes())).second); };
  add(SetKey::for_receiver(kMaster, kContent, kReceiver, 0));
  add(SetKey::for_receiver(kMaster, kContent, kReceiver, 1));
  add(SetKey::for_receiver(kMaster, kContent, kReceiver, 256));
  add(SetKey::for_receiver(counting_from(1), kContent, kReceiver, 0));
  add(SetKey::for_receiver(kMaster, ContentId{counting_from(1)}, kReceiver, 0));
  add(SetKey::for_receiver(kMaster, kContent, PeerId{counting_from(1)}, 0));
  add(SetKey::for_pool(kMaster, kContent, 0));
  add(SetKey::for_pool(kMaster, kContent, 1));
  add(SetKey::for_pool(kMaster, kContent, std::uint64_t{1} << 32));
}

TEST_CASE("each generation has key material of its own, of which a longer key has more") {
  const SetKey set = SetKey::for_pool(kMaster, kContent, 7);
  const auto first = set.material(0, 1000, 8), second = set.material(1, 1000, 8);
  CHECK(first.size() == 8 * 16 + 256 * 8);
  CHECK(first != second);
  CHECK(set.material(std::uint64_t{1} << 40, 1000, 8) != first);
  const auto longer = set.material(0, 1000, 16);
  CHECK(longer.size() == 8 * 16 + 256 * 16);
  CHECK(std::equal(first.begin(), first.end(), longer.begin()));
}

TEST_CASE("a receiver with the key's bytes accepts by the maker's sums") {
  const SetKey made = SetKey::for_receiver(kMaster, kContent, kReceiver, 5);
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
