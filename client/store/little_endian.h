// Fixed-width little-endian fields of the store's own file formats (docs/formats.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace firn::store {

template <typename T>
void put_field(std::span<std::uint8_t> bytes, std::size_t offset, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

template <typename T>
T get_field(std::span<const std::uint8_t> bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<T>(bytes[offset + i]) << (8 * i));
  }
  return value;
}

}  // namespace firn::store
