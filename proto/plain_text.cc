#include "proto/plain_text.h"

#include <cstdint>

namespace firn {
namespace {

bool is_control(std::uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point <= 0x9f);
}

// Bytes of the plain character at the start of `text` (1 to 4), or 0 if there is none.
std::size_t plain_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return is_control(lead) ? 0 : 1;

  // Leads 0x80..0xc1 continue or encode what fits in fewer bytes; above 0xf4 is beyond U+10FFFF.
  std::size_t length = 0;
  std::uint32_t code_point = 0;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
    code_point = lead & 0x1fu;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    code_point = lead & 0x0fu;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    code_point = lead & 0x07u;
  }
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return 0;
    code_point = code_point << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong =
      (length == 3 && code_point < 0x800) || (length == 4 && code_point < 0x10000);
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (overlong || surrogate || code_point > 0x10ffff || is_control(code_point)) return 0;
  return length;
}

}  // namespace

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = plain_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_plain_text(std::string_view text, std::size_t bytes_max) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = plain_character(text);
    const std::size_t taken = length == 0 ? 1 : length;
    if (out.size() + taken > bytes_max) break;
    out += length == 0 ? std::string_view("?") : text.substr(0, length);
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace firn
