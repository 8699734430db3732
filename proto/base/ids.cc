#include "proto/base/ids.h"

namespace firn {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";

// The five bits that a character stands for, or -1.
int value_of(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a';
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= '2' && c <= '7') return c - '2' + 26;
  return -1;
}

}  // namespace

std::string base32_encode(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve((bytes.size() * 8 + 4) / 5);
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (const std::uint8_t byte : bytes) {
    bits = bits << 8 | byte;
    bit_count += 8;
    while (bit_count >= 5) {
      bit_count -= 5;
      text += kAlphabet[bits >> bit_count & 31u];
    }
  }
  if (bit_count > 0) text += kAlphabet[bits << (5 - bit_count) & 31u];
  return text;
}

bool base32_decode(std::string_view text, std::span<std::uint8_t> out) {
  if (text.size() != (out.size() * 8 + 4) / 5) return false;
  std::uint32_t bits = 0;
  int bit_count = 0;
  std::size_t written = 0;
  for (const char c : text) {
    const int value = value_of(c);
    if (value < 0) return false;
    bits = bits << 5 | static_cast<std::uint32_t>(value);
    bit_count += 5;
    if (bit_count >= 8) {
      bit_count -= 8;
      out[written++] = static_cast<std::uint8_t>(bits >> bit_count);
    }
  }
  // What is left over fills up the last character and must be zero, or two texts would name one id.
  return (bits & ((1u << bit_count) - 1)) == 0;
}

}  // namespace firn
