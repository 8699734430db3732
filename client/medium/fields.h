// Fixed-width little-endian fields of the medium's own formats (docs/formats.md, "Medium").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace firn::medium {

template <typename T>
void put(std::span<std::uint8_t> bytes, std::size_t offset, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bytes[offset + i] = static_cast<std::uint8_t>(std::uint64_t{value} >> (8 * i));
}

template <typename T>
T get(std::span<const std::uint8_t> bytes, std::size_t offset) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= std::uint64_t{bytes[offset + i]} << (8 * i);
  return static_cast<T>(value);
}

}  // namespace firn::medium
