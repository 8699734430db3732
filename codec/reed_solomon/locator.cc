#include "codec/reed_solomon/locator.h"

#include "codec/reed_solomon/logarithms.h"

namespace firn::codec {
namespace {

// The product of (1 - X x) over the erasures' X; subtraction is addition here.
Polynomial erasure_locator(std::span<const std::uint8_t> erasures) {
  Polynomial gamma{};
  gamma[0] = 1;
  std::size_t degree = 0;
  for (const std::uint8_t locator : erasures) {
    ++degree;
    for (std::size_t i = degree; i > 0; --i) gamma[i] ^= log_product(locator, gamma[i - 1]);
  }
  return gamma;
}

void shift_by_one(Polynomial& polynomial, std::size_t degree_max) {
  for (std::size_t i = degree_max; i > 0; --i) polynomial[i] = polynomial[i - 1];
  polynomial[0] = 0;
}

}  // namespace

// Berlekamp-Massey, begun with the erasures' locator: what is left of the syndromes then is a
// sequence of the errors alone, and `length` counts both.
Polynomial find_locator(std::span<const std::uint8_t> syndromes,
                        std::span<const std::uint8_t> erasures, std::size_t& degree) {
  const std::size_t p = syndromes.size(), s = erasures.size();
  Polynomial lambda = erasure_locator(erasures);
  Polynomial before = lambda;  // of the last change of length, divided by its discrepancy
  std::size_t length = s;
  for (std::size_t r = s; r < p; ++r) {
    std::uint8_t discrepancy = 0;
    for (std::size_t i = 0; i <= length && i <= r; ++i)
      discrepancy ^= log_product(lambda[i], syndromes[r - i]);
    shift_by_one(before, p);
    if (discrepancy == 0) continue;
    const Polynomial last = lambda;
    for (std::size_t i = 0; i <= p; ++i) lambda[i] ^= log_product(discrepancy, before[i]);
    if (2 * length > r + s) continue;
    length = r + 1 + s - length;
    for (std::size_t i = 0; i <= p; ++i) before[i] = log_quotient(last[i], discrepancy);
  }
  degree = length;
  return lambda;
}

Polynomial find_evaluator(std::span<const std::uint8_t> syndromes, const Polynomial& lambda,
                          std::size_t degree) {
  Polynomial omega{};
  for (std::size_t i = 0; i < syndromes.size(); ++i)
    for (std::size_t j = 0; j <= degree && j <= i; ++j)
      omega[i] ^= log_product(lambda[j], syndromes[i - j]);
  return omega;
}

std::uint8_t value_at(const Polynomial& polynomial, std::size_t terms, std::size_t exponent) {
  std::uint8_t value = 0;
  for (std::size_t i = 0; i < terms; ++i)
    value ^= log_product(polynomial[i], power_of_a(i * exponent));
  return value;
}

std::uint8_t derivative_at(const Polynomial& polynomial, std::size_t degree, std::size_t exponent) {
  // Over a field of characteristic 2 the terms of even degree vanish.
  std::uint8_t value = 0;
  for (std::size_t i = 1; i <= degree; i += 2)
    value ^= log_product(polynomial[i], power_of_a((i - 1) * exponent));
  return value;
}

}  // namespace firn::codec
