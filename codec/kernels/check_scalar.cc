// The specification of the kernels for block checks: the sums of check_table.h term by term. Every
// other set is tested against it byte for byte.
#include "codec/gf256.h"
#include "codec/kernels/check_table.h"

namespace firn::codec {
namespace {

constexpr std::size_t kGroup = 128, kResult = 256;

void convolve(std::uint8_t* y, const CheckWord* words, const std::uint8_t* payload,
              std::size_t bytes) {
  for (std::size_t d = 0; d < kResult; ++d) y[d] = 0;
  for (std::size_t start = 0; start < bytes; start += kGroup, ++words) {
    std::uint8_t x[kGroup] = {};  // x[e] is the coefficient of z^e
    for (std::size_t a = 0; a < kGroup && start + a < bytes; ++a) {
      x[kGroup - 1 - a] = payload[start + a];
    }
    for (std::size_t b = 0; b < kGroup; ++b) {
      const std::uint64_t bit = (b < 64 ? words->low : words->high) >> (b % 64) & 1;
      const auto mask = static_cast<std::uint8_t>(0 - bit);
      for (std::size_t e = 0; e < kGroup; ++e) y[b + e] ^= x[e] & mask;
    }
  }
}

void weigh(std::uint8_t* out, const std::uint8_t* rows, std::size_t width,
           const std::uint8_t* coefficients, std::size_t count) {
  for (std::size_t j = 0; j < width; ++j) out[j] = 0;
  for (std::size_t d = 0; d < count; ++d) {
    for (std::size_t j = 0; j < width; ++j) {
      out[j] ^= gf_multiply(coefficients[d], rows[d * width + j]);
    }
  }
}

}  // namespace

const CheckKernels kScalarCheckKernels = {"scalar", convolve, weigh};

}  // namespace firn::codec
