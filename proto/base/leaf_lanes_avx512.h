// SHA-256 of sixteen Merkle leaves side by side (AVX-512F and BW): a vector register holds one word
// of sixteen digests. Its file is compiled with flags of its own and includes nothing that other
// files share, so that its code cannot leak into a build for older processors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn {

inline constexpr std::size_t kLeafLanes = 16;
inline constexpr std::size_t kLeafDigestBytes = 32;

// digests[i] = SHA-256(0x00 || blocks[i][0 .. block_bytes - 1]), FIPS 180-4. The blocks need no
// alignment and may be the same; nothing before them is read. block_bytes < 2^61, 0 included.
void leaf_lanes_avx512(const std::uint8_t* const (&blocks)[kLeafLanes], std::size_t block_bytes,
                       std::uint8_t (&digests)[kLeafLanes][kLeafDigestBytes]);

}  // namespace firn
