// The algebra of decoding a Reed-Solomon word: from syndromes and erasures to the polynomial whose
// roots name the wrong places. Polynomials are arrays of coefficients, the constant one first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace firn::codec {

// Room for degree 254, and for the shift by one that the iteration makes.
using Polynomial = std::array<std::uint8_t, 256>;

// lambda(x) = product over wrong places l of (1 - X_l x), X_l = a^l the place's locator, as far as
// the syndromes determine it. erasures: their locators X_l. At most syndromes.size() erasures.
// `degree` becomes the degree that lambda must have: the erasures and the errors found.
Polynomial find_locator(std::span<const std::uint8_t> syndromes,
                        std::span<const std::uint8_t> erasures, std::size_t& degree);

// omega(x) = S(x) lambda(x) mod x^p with S(x) = sum_j syndromes[j] x^j, p of them.
Polynomial find_evaluator(std::span<const std::uint8_t> syndromes, const Polynomial& lambda,
                          std::size_t degree);

// The value of the first `terms` terms at a^exponent.
std::uint8_t value_at(const Polynomial& polynomial, std::size_t terms, std::size_t exponent);

// The value at a^exponent of the formal derivative of a polynomial of that degree.
std::uint8_t derivative_at(const Polynomial& polynomial, std::size_t degree, std::size_t exponent);

}  // namespace firn::codec
