// The CRC-32C instruction of x86 (SSE4.2). Its file is compiled with flags of its own and includes
// nothing that other files share, so that its code cannot leak into a build for older processors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn::store {

// The instruction has a latency of three cycles and a throughput of one: three lanes of this many
// bytes are run side by side and joined with a table.
inline constexpr std::size_t kCrc32cLaneBytes = 1024;

// On the raw register (not inverted). `lane_shift`: 4 x 256 words, the effect of kCrc32cLaneBytes
// zero bytes on each byte of the register, lowest first.
std::uint32_t crc32c_sse42(std::uint32_t crc, const std::uint8_t* data, std::size_t bytes,
                           const std::uint32_t* lane_shift);

}  // namespace firn::store
