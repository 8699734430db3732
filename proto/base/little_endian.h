// Fixed-width little-endian fields of this program's own formats: the store's files, media and
// their journals (docs/formats.md). Integers of any type; a signed one is its two's complement.
// No bounds are checked: the field lies within `bytes`.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace firn {

template <std::integral T>
void put_field(std::span<std::uint8_t> bytes, std::size_t offset, T value) {
  const auto bits = static_cast<std::uint64_t>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bytes[offset + i] = static_cast<std::uint8_t>(bits >> (8 * i));
}

template <std::integral T>
T get_field(std::span<const std::uint8_t> bytes, std::size_t offset) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) bits |= std::uint64_t{bytes[offset + i]} << (8 * i);
  return static_cast<T>(bits);
}

}  // namespace firn
