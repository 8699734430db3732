// What the kernels for block checks without GFNI share: bit planes in 64-bit words, and sums of
// products of two variables. All functions have internal linkage, so that nothing built with one
// file's flags can serve another file.
//
// An Isa for weigh() has
//   Vector              kBytes bytes, 16 or 32; load, store, all (one byte everywhere), add (xor),
//                       times_z (every byte times the field's element z, the byte 2)
//   load_sixteen        16 bytes as a table; look_up(table, indices) takes a byte of it for each
//   select(rows, c, b)  the bytes of `rows` where bit b of the byte of `c` is set, 0 elsewhere
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/kernels/check_table.h"

namespace firn::codec::check_planes {

inline constexpr std::size_t kGroup = 128;  // payload bytes that a CheckWord belongs to

// Of every plane q the sums of the carry-less products of halves, low word first:
// lower half * word.low, upper half * word.high, (lower + upper) * word.sum.
struct PlaneSums {
  std::uint64_t low[8][2], high[8][2], sum[8][2];
};

// Bit q of byte i goes to bit 7 - i of byte 7 - q: eight bytes in turn become eight planes, the
// last plane first. Its own inverse. (H. S. Warren, Hacker's Delight, section 7-3, mirrored.)
[[maybe_unused]] static std::uint64_t transposed(std::uint64_t x) {
  std::uint64_t swapped = (x ^ (x >> 9)) & 0x0055005500550055;
  x ^= swapped ^ (swapped << 9);
  swapped = (x ^ (x >> 18)) & 0x0000333300003333;
  x ^= swapped ^ (swapped << 18);
  swapped = (x ^ (x >> 36)) & 0x000000000f0f0f0f;
  return x ^ swapped ^ (swapped << 36);
}

// y[d] = the bits d of the eight planes, d = 0..63.
[[maybe_unused]] static void store_planes(std::uint8_t* y, const std::uint64_t (&planes)[8]) {
  for (unsigned c = 0; c < 8; ++c) {
    std::uint64_t bytes = 0;
    for (unsigned q = 0; q < 8; ++q) bytes = bytes << 8 | (planes[q] >> (8 * c) & 0xff);
    bytes = __builtin_bswap64(transposed(bytes));
    __builtin_memcpy(y + 8 * c, &bytes, sizeof bytes);
  }
}

// high z^128 + (sum - low - high) z^64 + low: Karatsuba's product of all groups at once.
[[maybe_unused]] static void store_product(std::uint8_t* y, const PlaneSums& s) {
  std::uint64_t words[4][8];
  for (unsigned q = 0; q < 8; ++q) {
    const std::uint64_t inner = s.low[q][1] ^ s.high[q][0];
    words[0][q] = s.low[q][0];
    words[1][q] = inner ^ s.low[q][0] ^ s.sum[q][0];
    words[2][q] = inner ^ s.high[q][1] ^ s.sum[q][1];
    words[3][q] = s.high[q][1];
  }
  for (unsigned w = 0; w < 4; ++w) store_planes(y + 64 * w, words[w]);
}

// Which of sixteen coefficients belongs to each byte of the first vector of rows.
template <std::size_t kRowWidth>
struct RowOfByte {
  alignas(32) std::uint8_t row[32];
  constexpr RowOfByte() : row() {
    for (unsigned i = 0; i < 32; ++i) row[i] = static_cast<std::uint8_t>(i / kRowWidth);
  }
};

// Adds sixteen rows: sums[b] is the sum of the rows whose coefficient has bit b.
template <class Isa, std::size_t kRowWidth>
void add_sixteen(typename Isa::Vector (&sums)[8], const std::uint8_t* rows,
                 const std::uint8_t* coefficients) {
  static constexpr RowOfByte<kRowWidth> kFirst;
  const auto first = Isa::load(kFirst.row);
  const auto sixteen = Isa::load_sixteen(coefficients);
  for (std::size_t start = 0; start < 16; start += Isa::kBytes / kRowWidth) {
    // Both have bits of their own, so their sum is their xor.
    const auto row_of_byte = Isa::add(first, Isa::all(static_cast<std::uint8_t>(start)));
    const auto coefficient = Isa::look_up(sixteen, row_of_byte);
    const auto row = Isa::load(rows + start * kRowWidth);
    for (unsigned b = 0; b < 8; ++b) {
      sums[b] = Isa::add(sums[b], Isa::select(row, coefficient, b));
    }
  }
}

// sum_d c_d row_d = sum_b z^b sums[b]: Horner's rule over the bits of the coefficients.
template <class Isa, std::size_t kRowWidth>
void weigh_rows(std::uint8_t* out, const std::uint8_t* rows, const std::uint8_t* coefficients,
                std::size_t count) {
  typename Isa::Vector sums[8];
  for (auto& sum : sums) sum = Isa::all(0);
  for (; count >= 16; count -= 16, rows += 16 * kRowWidth, coefficients += 16) {
    add_sixteen<Isa, kRowWidth>(sums, rows, coefficients);
  }
  if (count > 0) {
    alignas(32) std::uint8_t last_rows[16 * kRowWidth] = {}, last_coefficients[16] = {};
    __builtin_memcpy(last_rows, rows, count * kRowWidth);
    __builtin_memcpy(last_coefficients, coefficients, count);
    add_sixteen<Isa, kRowWidth>(sums, last_rows, last_coefficients);
  }
  auto total = sums[7];
  for (unsigned b = 7; b-- > 0;) total = Isa::add(Isa::times_z(total), sums[b]);
  alignas(32) std::uint8_t bytes[Isa::kBytes];
  Isa::store(bytes, total);
  for (std::size_t j = 0; j < kRowWidth; ++j) out[j] = bytes[j];
  for (std::size_t i = kRowWidth; i < Isa::kBytes; ++i) out[i % kRowWidth] ^= bytes[i];
}

template <class Isa>
void weigh(std::uint8_t* out, const std::uint8_t* rows, std::size_t width,
           const std::uint8_t* coefficients, std::size_t count) {
  if (width == 4) return weigh_rows<Isa, 4>(out, rows, coefficients, count);
  if (width == 8) return weigh_rows<Isa, 8>(out, rows, coefficients, count);
  weigh_rows<Isa, 16>(out, rows, coefficients, count);
}

}  // namespace firn::codec::check_planes
