#include "client/store/crc32c_sse42.h"

#include <nmmintrin.h>

namespace firn::store {
namespace {

inline std::uint64_t load(const std::uint8_t* at) {
  std::uint64_t word;
  __builtin_memcpy(&word, at, sizeof word);
  return word;
}

inline std::uint64_t shifted(std::uint64_t crc, const std::uint32_t* shift) {
  return shift[crc & 0xff] ^ shift[256 + (crc >> 8 & 0xff)] ^ shift[512 + (crc >> 16 & 0xff)] ^
         shift[768 + (crc >> 24 & 0xff)];
}

}  // namespace

std::uint32_t crc32c_sse42(std::uint32_t crc, const std::uint8_t* data, std::size_t bytes,
                           const std::uint32_t* lane_shift) {
  std::uint64_t first = crc;
  while (bytes >= 3 * kCrc32cLaneBytes) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kCrc32cLaneBytes; i += 8) {
      first = _mm_crc32_u64(first, load(data + i));
      second = _mm_crc32_u64(second, load(data + kCrc32cLaneBytes + i));
      third = _mm_crc32_u64(third, load(data + 2 * kCrc32cLaneBytes + i));
    }
    first = shifted(shifted(first, lane_shift) ^ second, lane_shift) ^ third;
    data += 3 * kCrc32cLaneBytes;
    bytes -= 3 * kCrc32cLaneBytes;
  }
  for (; bytes >= 8; bytes -= 8, data += 8) first = _mm_crc32_u64(first, load(data));
  auto rest = static_cast<std::uint32_t>(first);
  for (; bytes > 0; --bytes, ++data) rest = _mm_crc32_u8(rest, *data);
  return rest;
}

}  // namespace firn::store
