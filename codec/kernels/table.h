// The table type that every kernel set fills. It stands apart from codec/kernels.h because files
// built for one instruction set include nothing that holds inline functions: the linker keeps one
// copy of such a function, and it might keep the copy that not every CPU can run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn::codec {

// Rows are plain bytes, any length from 0 up, any alignment. `out` may equal an input exactly where
// said, and must not overlap one otherwise. Nothing beyond a row's end is read or written.
struct Kernels {
  const char* name;  // "scalar", "ssse3", "avx2", "avx512bw", ...

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
  // As combine_rows, but added to what stands in out.
  void (*add_rows)(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
                   std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
                   std::size_t bytes);

  // As combine_rows or add_rows for rows of `strip_bytes` bytes whose sources stand one behind the
  // other: in[j] = panel + j * strip_bytes. Fastest where it does not have to copy them there.
  std::size_t strip_bytes;
  void (*combine_panel)(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* panel,
                        std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
                        bool add_to_out);
};

// One per file of this folder; which of them are linked in, the build decides.
extern const Kernels kScalarKernels;
extern const Kernels kSsse3Kernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512BwKernels;
extern const Kernels kAvx2GfniKernels;
extern const Kernels kAvx512GfniKernels;
extern const Kernels kNeonKernels;

}  // namespace firn::codec
