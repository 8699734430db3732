#include "codec/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace firn::codec {
namespace {

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string first_block(CoefficientStream stream) {
  std::vector<std::uint8_t> bytes(64);
  stream.fill(bytes);
  return hex(bytes);
}

TEST_CASE("the block function with twenty rounds gives the block of RFC 8439, 2.3.2") {
  std::array<std::uint32_t, 16> state = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  for (std::uint32_t word = 0; word < 8; ++word) {
    state[4 + word] = 0x03020100 + word * 0x04040404;  // the key 00 01 02 .. 1f
  }
  state[12] = 1;
  state[13] = 0x09000000;
  state[14] = 0x4a000000;
  state[15] = 0;
  CHECK(hex(chacha_block(state, 20)) ==
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
}

// The zero stream is ChaCha8 with the zero key and nonce; the others come from a second
// implementation, checked against ChaCha20.
TEST_CASE("streams give the known bytes") {
  CHECK(first_block({0, 0}) ==
        "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
        "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42");
  CoefficientStream stream(0x0123456789abcdef, 0xfedcba9876543210);
  stream.seek(64);
  CHECK(first_block(stream) ==
        "9e6eca4b64f2a31fe47f68f528a93b4c4eb7bc67f0c0515a120a0dd915fae4c2"
        "e9bf91ada74c6996bff04da2b5eb234deffcf064f7a4cb32b8810f32362e27ed");
  stream.seek(std::uint64_t{64} << 32);
  CHECK(first_block(stream) ==
        "bce8d25dc633e7f5585cc6f07906af66dcabbabe6a656f9d31911fcf0c08e2ef"
        "84439584162722883783e3e879c6b9b836b80a091842b3c6caf373eec036c58e");
}

TEST_CASE("a sequence is the same in whatever pieces and from whatever position it is read") {
  std::vector<std::uint8_t> whole(1000);
  CoefficientStream(7, 9).fill(whole);

  CoefficientStream pieces(7, 9);
  std::vector<std::uint8_t> joined;
  for (std::size_t size = 1; joined.size() < whole.size(); size = size % 97 + 13) {
    std::vector<std::uint8_t> piece(std::min(size, whole.size() - joined.size()));
    pieces.fill(piece);
    joined.insert(joined.end(), piece.begin(), piece.end());
  }
  CHECK(joined == whole);

  CoefficientStream seeking(7, 9);
  for (const std::size_t position : {0, 1, 63, 64, 65, 500, 128, 900}) {
    seeking.seek(position);
    std::vector<std::uint8_t> piece(100);
    seeking.fill(piece);
    CHECK(std::equal(piece.begin(), piece.end(),
                     whole.begin() + static_cast<std::ptrdiff_t>(position)));
  }
}

TEST_CASE("the block counter carries into its high word") {
  CoefficientStream across(7, 9), after(7, 9);
  across.seek((std::uint64_t{64} << 32) - 64);
  std::vector<std::uint8_t> skipped(64);
  across.fill(skipped);
  after.seek(std::uint64_t{64} << 32);
  CHECK(first_block(across) == first_block(after));
  CHECK(first_block(across) != first_block({7, 9}));
}

TEST_CASE("another seed or stream gives another sequence") {
  const std::uint64_t high = std::uint64_t{1} << 32;
  std::vector<std::string> blocks;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, high}) {
    for (const std::uint64_t stream : {std::uint64_t{0}, std::uint64_t{1}, high}) {
      blocks.push_back(first_block({seed, stream}));
    }
  }
  std::sort(blocks.begin(), blocks.end());
  CHECK(std::unique(blocks.begin(), blocks.end()) == blocks.end());
}

TEST_CASE("nonzero bytes are the sequence without its zeros") {
  std::vector<std::uint8_t> all(10000);
  CoefficientStream(3, 4).fill(all);
  all.erase(std::remove(all.begin(), all.end(), 0), all.end());
  std::vector<std::uint8_t> nonzero(all.size());
  CoefficientStream(3, 4).fill_nonzero(nonzero);
  CHECK(nonzero == all);
}

TEST_CASE("next_u64 reads eight bytes, the lowest first") {
  std::vector<std::uint8_t> bytes(8);
  CoefficientStream(5, 6).fill(bytes);
  std::uint64_t expected = 0;
  for (std::size_t i = 8; i-- > 0;) expected = expected << 8 | bytes[i];
  CHECK(CoefficientStream(5, 6).next_u64() == expected);
}

// Chi-square with fixed seeds: 255 degrees of freedom have mean 255 and deviation 22.6.
TEST_CASE("bytes are spread evenly") {
  std::vector<std::uint8_t> bytes(256 * 1000);
  CoefficientStream(11, 0).fill(bytes);
  std::array<double, 256> counts{};
  for (const std::uint8_t byte : bytes) ++counts[byte];
  const double chi_square = std::accumulate(
      counts.begin(), counts.end(), 0.0,
      [](double sum, double count) { return sum + (count - 1000) * (count - 1000) / 1000; });
  CHECK(chi_square > 255 - 5 * 22.6);
  CHECK(chi_square < 255 + 5 * 22.6);
}

TEST_CASE("below stays below its bound and reaches every value evenly") {
  CoefficientStream random(12, 0);
  for (const std::uint32_t bound : {1u, 2u, 3u, 10u}) {
    std::vector<int> counts(bound);
    for (std::uint32_t i = 0; i < bound * 1000; ++i) {
      const std::uint32_t value = random.below(bound);
      REQUIRE(value < bound);
      ++counts[value];
    }
    for (const int count : counts) {  // deviation about 32
      CHECK(count > 840);
      CHECK(count < 1160);
    }
  }
  bool high = false;
  for (int i = 0; i < 100; ++i) high |= random.below(0xffffffff) >= 0x80000000;
  CHECK(high);
}

}  // namespace
}  // namespace firn::codec
