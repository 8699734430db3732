// Debian's ISA-L, the rival, in the shapes of the codec. Without the library available() is false
// and nothing else may be called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace firn::codec::bench::isal {

bool available();
// "2.30.0", empty without it.
const char* version();

// The 32-byte tables for a rows x count matrix, row-major: what encode() multiplies by.
std::vector<std::uint8_t> tables(const std::vector<std::uint8_t>& matrix, std::size_t rows,
                                 std::size_t count);
// out[r] = sum_j matrix[r][j] * in[j]
void encode(const std::vector<std::uint8_t>& tables, std::uint8_t* const* out, std::size_t rows,
            const std::uint8_t* const* in, std::size_t count, std::size_t bytes);
// False if singular.
bool invert(const std::vector<std::uint8_t>& matrix, std::size_t n,
            std::vector<std::uint8_t>& inverse);

}  // namespace firn::codec::bench::isal
