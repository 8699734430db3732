// The matrix product behind batch encode, batch recode and decode, for any shape:
//   out (rows x bytes) = coefficients (rows x count) * in (count x bytes) over GF(2^8)
// Small products are the kernels' own. From about 512 rows and sources on, Strassen's algorithm in
// Winograd's form makes seven half-sized products do the work of eight, and its sums are cheap xors
// of packed strips; two levels of it pass what the plain form could ever reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "codec/kernels.h"
#include "codec/strassen.h"

namespace firn::codec {

// A product whose left factor is prepared once, and whose columns several threads may then make,
// any of them in any order. `coefficients` are read until the last multiply().
class Product {
 public:
  struct FreeAligned {
    void operator()(std::uint8_t* bytes) const;
  };
  // What one thread works in; used with one Product only. Its memory is taken when first needed.
  struct Scratch {
    std::vector<std::uint8_t*> out;
    std::vector<const std::uint8_t*> in;
    std::unique_ptr<std::uint8_t[], FreeAligned> strips;
  };

  // bytes: of a row. levels: of Strassen's algorithm; chosen by the shape if not given.
  Product(const Kernels& kernels, std::size_t rows, std::size_t count,
          const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes);
  Product(const Kernels& kernels, std::size_t rows, std::size_t count,
          const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes, unsigned levels);

  // Columns are best divided at multiples of this.
  std::size_t unit_bytes() const { return parts() * kernels_.strip_bytes; }

  // out[r][i] = sum_j coefficients[r * stride + j] * in[j][i] for begin <= i < end.
  void multiply(std::uint8_t* const* out, const std::uint8_t* const* in, std::size_t begin,
                std::size_t end, Scratch& scratch) const;

 private:
  std::size_t parts() const { return std::size_t{1} << levels_; }
  std::size_t multiply_chunks(std::uint8_t* const* out, const std::uint8_t* const* in,
                              std::size_t begin, std::size_t end, Scratch& scratch) const;

  const Kernels& kernels_;
  std::size_t rows_, count_;
  const std::uint8_t* coefficients_;
  std::size_t stride_;
  unsigned levels_;
  // If levels_ > 0:
  std::unique_ptr<std::uint8_t[]> filled_up_;  // the left factor, where it has to be
  std::unique_ptr<std::uint8_t[]> sums_;
  std::optional<Left> left_;  // reads the two above
};

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
