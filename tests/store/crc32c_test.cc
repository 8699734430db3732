#include "client/store/crc32c.h"

#include <doctest/doctest.h>

#include <numeric>
#include <random>
#include <string_view>
#include <vector>

namespace firn::store::crc32c_test {
namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST_CASE("the CRC has the values of RFC 3720, appendix B.4") {
  std::vector<std::uint8_t> rising(32);
  std::iota(rising.begin(), rising.end(), std::uint8_t{0});
  for (const auto crc : {crc32c, crc32c_portable}) {
    CHECK(crc(0, std::vector<std::uint8_t>(32, 0x00)) == 0x8a9136aa);
    CHECK(crc(0, std::vector<std::uint8_t>(32, 0xff)) == 0x62a8ab43);
    CHECK(crc(0, rising) == 0x46dd794e);
    CHECK(crc(0, bytes_of("123456789")) == 0xe3069283);
    CHECK(crc(0, {}) == 0);
  }
}

TEST_CASE("the fast CRC equals the portable one at every length and alignment around its lanes") {
  std::mt19937_64 random(7);
  std::vector<std::uint8_t> data(20'000);
  for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 70; ++i) lengths.push_back(i);
  for (const std::size_t base : {1024u, 3072u, 6144u, 9216u}) {
    for (std::size_t i = 0; i < 20; ++i) lengths.push_back(base - 10 + i);
  }
  for (int i = 0; i < 300; ++i) lengths.push_back(random() % 19'000);
  for (const std::size_t length : lengths) {
    const auto part = std::span<const std::uint8_t>(data).subspan(random() % 900, length);
    const auto start = static_cast<std::uint32_t>(random());
    CHECK(crc32c(start, part) == crc32c_portable(start, part));
  }
}

TEST_CASE("a CRC goes on where an earlier one ended") {
  std::vector<std::uint8_t> data(10'000, 0x5a);
  std::iota(data.begin(), data.end(), std::uint8_t{0});
  const std::span<const std::uint8_t> whole = data;
  for (const std::size_t cut : {0u, 1u, 7u, 3072u, 5000u, 10'000u}) {
    CHECK(crc32c(crc32c(0, whole.first(cut)), whole.subspan(cut)) == crc32c(0, whole));
  }
}

}  // namespace
}  // namespace firn::store::crc32c_test
