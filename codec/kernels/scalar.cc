// The specification: plain loops, in the order of the formulas in table.h. Every other set is
// tested against it byte for byte.
#include "codec/kernels/products.h"
#include "codec/kernels/table.h"

namespace firn::codec {
namespace {

std::uint8_t product(const std::uint8_t* products, std::uint8_t x) {
  return products[x & 15] ^ products[16 + (x >> 4)];
}

void multiply(std::uint8_t* out, const std::uint8_t* in, std::uint8_t c, std::size_t bytes) {
  const std::uint8_t* products = kNibbleProducts.by_constant[c];
  for (std::size_t i = 0; i < bytes; ++i) out[i] = product(products, in[i]);
}

void multiply_add(std::uint8_t* out, const std::uint8_t* in, std::uint8_t c, std::size_t bytes) {
  const std::uint8_t* products = kNibbleProducts.by_constant[c];
  for (std::size_t i = 0; i < bytes; ++i) out[i] ^= product(products, in[i]);
}

void combine(std::uint8_t* out, const std::uint8_t* const* in, const std::uint8_t* coefficients,
             std::size_t count, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out[i] = 0;
  for (std::size_t j = 0; j < count; ++j) multiply_add(out, in[j], coefficients[j], bytes);
}

void combine_rows(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
                  std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
                  std::size_t bytes) {
  for (std::size_t r = 0; r < rows; ++r) {
    combine(out[r], in, coefficients + r * stride, count, bytes);
  }
}

void add_rows(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
              std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
              std::size_t bytes) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < count; ++j) {
      multiply_add(out[r], in[j], coefficients[r * stride + j], bytes);
    }
  }
}

constexpr std::size_t kStripBytes = 64;

void combine_panel(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* panel,
                   std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
                   bool add_to_out) {
  for (std::size_t r = 0; r < rows; ++r) {
    if (!add_to_out) multiply(out[r], out[r], 0, kStripBytes);
    for (std::size_t j = 0; j < count; ++j) {
      multiply_add(out[r], panel + j * kStripBytes, coefficients[r * stride + j], kStripBytes);
    }
  }
}

}  // namespace

const Kernels kScalarKernels = {"scalar",     multiply, multiply_add, combine,
                                combine_rows, add_rows, kStripBytes,  combine_panel};

}  // namespace firn::codec
