// The table of row kernels: one small set of functions per instruction set, the best that the CPU
// has chosen once. The scalar set is the specification; all others give the same bytes.
//
// Rows are plain bytes, any length from 0 up, any alignment. `out` may equal an input exactly where
// said, and must not overlap one otherwise. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace firn::codec {

struct Kernels {
  const char* name;  // "scalar", "ssse3", "avx2", "avx2-gfni", "avx512-gfni"

  // out[i] = c * in[i]; out may equal in.
  void (*multiply)(std::uint8_t* out, const std::uint8_t* in, std::uint8_t c, std::size_t bytes);
  // out[i] ^= c * in[i]; out must not overlap in.
  void (*multiply_add)(std::uint8_t* out, const std::uint8_t* in, std::uint8_t c,
                       std::size_t bytes);
  // out[i] = sum_j coefficients[j] * in[j][i], j = 0..count-1 (0 if count is 0): one coded block.
  void (*combine)(std::uint8_t* out, const std::uint8_t* const* in,
                  const std::uint8_t* coefficients, std::size_t count, std::size_t bytes);
  // out[r][i] = sum_j coefficients[r * stride + j] * in[j][i] for r = 0..rows-1: the blocked matrix
  // product behind batch encode, recode and decode.
  void (*combine_rows)(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
                       std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
                       std::size_t bytes);
};

// Every set built in that this CPU can run, best first; the last is scalar.
std::span<const Kernels* const> available_kernels();

// The set in use: the best available, or the one that the environment variable FIRN_KERNELS names
// (ignored with no such set; firn itself refuses that at start, see find_kernels).
const Kernels& kernels();

// The available set called `name`, or nullptr if it is unknown or the CPU lacks it.
const Kernels* find_kernels(std::string_view name);

}  // namespace firn::codec
