// The matrix product behind batch encode, batch recode and decode, for any shape:
//   out (rows x bytes) = coefficients (rows x count) * in (count x bytes) over GF(2^8)
// Small products are the kernels' own. From about 512 rows and sources on, Strassen's algorithm in
// Winograd's form makes seven half-sized products do the work of eight, and its sums are cheap xors
// of packed strips; two or three levels of it pass what the plain form could ever reach.
// Source: S. Winograd, "On multiplication of 2 x 2 matrices", Linear Algebra Appl. 4 (1971).
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/kernels.h"

namespace firn::codec {

// out[r][i] = sum_j coefficients[r * stride + j] * in[j][i]. No `out` row may overlap another row.
// Takes memory for its strips if it uses Strassen's algorithm: about 5 * 2^levels * count *
// strip_bytes, whatever `bytes` is. Any thread.
void multiply_rows(const Kernels& kernels, std::uint8_t* const* out, std::size_t rows,
                   const std::uint8_t* const* in, std::size_t count,
                   const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes);

// The same with the number of Strassen's levels given (0: the plain product), for tests and
// benchmarks. Levels that the shape has no room for (less than 2^levels rows, sources or strips)
// are left out.
void multiply_rows(const Kernels& kernels, std::uint8_t* const* out, std::size_t rows,
                   const std::uint8_t* const* in, std::size_t count,
                   const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes,
                   unsigned levels);

}  // namespace firn::codec
