#include "client/store/crc32c.h"

#include <array>

#include "client/store/crc32c_sse42.h"

namespace firn::store {
namespace {

using Table = std::array<std::uint32_t, 256>;

constexpr Table byte_table() {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reflected
  Table table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}

constexpr Table kByteTable = byte_table();

#ifdef FIRN_CRC32C_SSE42
using Shift = std::array<Table, 4>;

// What kCrc32cLaneBytes zero bytes do to a CRC register, by the register's four bytes: the map is
// linear, so its images of the 32 single bits are enough.
constexpr Shift lane_shift() {
  std::array<std::uint32_t, 32> images{};
  for (int bit = 0; bit < 32; ++bit) {
    std::uint32_t crc = std::uint32_t{1} << bit;
    for (std::size_t i = 0; i < kCrc32cLaneBytes; ++i) crc = (crc >> 8) ^ kByteTable[crc & 0xff];
    images[static_cast<std::size_t>(bit)] = crc;
  }
  Shift shift{};
  for (std::size_t byte = 0; byte < 4; ++byte) {
    for (std::size_t value = 0; value < 256; ++value) {
      std::uint32_t sum = 0;
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if ((value >> bit & 1) != 0) sum ^= images[8 * byte + bit];
      }
      shift[byte][value] = sum;
    }
  }
  return shift;
}
#endif

}  // namespace

std::uint32_t crc32c_portable(std::uint32_t crc, std::span<const std::uint8_t> data) {
  crc = ~crc;
  for (const std::uint8_t byte : data) crc = (crc >> 8) ^ kByteTable[(crc ^ byte) & 0xff];
  return ~crc;
}

std::uint32_t crc32c(std::uint32_t crc, std::span<const std::uint8_t> data) {
#ifdef FIRN_CRC32C_SSE42
  static const bool usable = __builtin_cpu_supports("sse4.2") != 0;
  static const Shift shift = lane_shift();
  if (usable) return ~crc32c_sse42(~crc, data.data(), data.size(), shift[0].data());
#endif
  return crc32c_portable(crc, data);
}

}  // namespace firn::store
