#include "codec/bench/baselines.h"

#include <array>
#include <cstring>

#include "codec/gf256.h"

namespace firn::codec::bench {
namespace {

struct LogExp {
  std::array<std::uint8_t, 256> log{};
  std::array<std::uint8_t, 510> exp{};  // twice over, so that a sum of two logarithms fits

  constexpr LogExp() {
    unsigned power = 1;
    for (std::size_t i = 0; i < 255; ++i) {
      exp[i] = exp[i + 255] = static_cast<std::uint8_t>(power);
      log[power] = static_cast<std::uint8_t>(i);
      power = (power << 1) ^ ((power & 0x80) != 0 ? kFieldPolynomial : 0);
    }
  }
};

constinit const LogExp kTables;

struct ByTables {
  static std::uint8_t product(std::uint8_t c, std::uint8_t x) {
    return c == 0 || x == 0 ? std::uint8_t{0}
                            : kTables.exp[std::size_t{kTables.log[c]} + kTables.log[x]];
  }
  static void multiply(std::uint8_t* out, const std::uint8_t* in, std::uint8_t c,
                       std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) out[i] = product(c, in[i]);
  }
  static void multiply_add(std::uint8_t* out, const std::uint8_t* in, std::uint8_t c,
                           std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) out[i] ^= product(c, in[i]);
  }
};

struct ByLoop {
  using Vector = std::uint8_t __attribute__((vector_size(16)));

  static Vector load(const std::uint8_t* in) {
    Vector v;
    std::memcpy(&v, in, sizeof v);
    return v;
  }
  // The constant's bits, each spread over a vector.
  struct Masks {
    Vector of_bit[8];
  };
  static Masks masks(std::uint8_t c) {
    Masks result;
    for (unsigned bit = 0; bit < 8; ++bit) {
      const std::uint8_t all = c >> bit & 1 ? 0xff : 0;
      std::memset(&result.of_bit[bit], all, sizeof(Vector));
    }
    return result;
  }
  static Vector product(const Masks& masks, Vector x) {
    constexpr std::uint8_t kReduction = kFieldPolynomial & 0xff;
    using Signed = signed char __attribute__((vector_size(16)));
    Vector sum{};
    for (const Vector& mask : masks.of_bit) {
      sum ^= x & mask;
      const Vector carries = reinterpret_cast<Vector>(reinterpret_cast<Signed>(x) < 0);
      x = (x + x) ^ (carries & kReduction);
    }
    return sum;
  }
  template <bool kAdd>
  static void run(std::uint8_t* out, const std::uint8_t* in, std::uint8_t c, std::size_t bytes) {
    const Masks of_constant = masks(c);
    std::size_t i = 0;
    for (; i + 16 <= bytes; i += 16) {
      Vector result = product(of_constant, load(in + i));
      if (kAdd) result ^= load(out + i);
      std::memcpy(out + i, &result, sizeof result);
    }
    for (; i < bytes; ++i) {
      const std::uint8_t one = gf_multiply(c, in[i]);
      out[i] = kAdd ? out[i] ^ one : one;
    }
  }
  static void multiply(std::uint8_t* out, const std::uint8_t* in, std::uint8_t c,
                       std::size_t bytes) {
    run<false>(out, in, c, bytes);
  }
  static void multiply_add(std::uint8_t* out, const std::uint8_t* in, std::uint8_t c,
                           std::size_t bytes) {
    run<true>(out, in, c, bytes);
  }
};

template <class Method>
void add_rows(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
              std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
              std::size_t bytes) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < count; ++j) {
      Method::multiply_add(out[r], in[j], coefficients[r * stride + j], bytes);
    }
  }
}

template <class Method>
void combine_rows(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* const* in,
                  std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
                  std::size_t bytes) {
  for (std::size_t r = 0; r < rows; ++r) std::memset(out[r], 0, bytes);
  add_rows<Method>(out, rows, in, count, coefficients, stride, bytes);
}

template <class Method>
void combine(std::uint8_t* out, const std::uint8_t* const* in, const std::uint8_t* coefficients,
             std::size_t count, std::size_t bytes) {
  combine_rows<Method>(&out, 1, in, count, coefficients, 0, bytes);
}

constexpr std::size_t kStripBytes = 64;

template <class Method>
void combine_panel(std::uint8_t* const* out, std::size_t rows, const std::uint8_t* panel,
                   std::size_t count, const std::uint8_t* coefficients, std::size_t stride,
                   bool add_to_out) {
  for (std::size_t r = 0; r < rows; ++r) {
    if (!add_to_out) std::memset(out[r], 0, kStripBytes);
    for (std::size_t j = 0; j < count; ++j) {
      Method::multiply_add(out[r], panel + j * kStripBytes, coefficients[r * stride + j],
                           kStripBytes);
    }
  }
}

template <class Method>
constexpr Kernels make(const char* name) {
  return {name,
          Method::multiply,
          Method::multiply_add,
          combine<Method>,
          combine_rows<Method>,
          add_rows<Method>,
          kStripBytes,
          combine_panel<Method>};
}

}  // namespace

const Kernels kLogExpKernels = make<ByTables>("log-exp");
const Kernels kLoopKernels = make<ByLoop>("loop");

}  // namespace firn::codec::bench
