#include "proto/base/characters.h"

#include <algorithm>
#include <iterator>

namespace firn {
namespace {

struct CodePoints {
  std::uint32_t first, last;
};

// Default_Ignorable_Code_Point of DerivedCoreProperties.txt, Unicode 16.0. Ascending.
constexpr CodePoints kDefaultIgnorable[] = {
    {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c}, {0x115f, 0x1160}, {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x202a, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

}  // namespace

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};

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
  if (length == 0 || text.size() < length) return {};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return {};
    code_point = code_point << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong =
      (length == 3 && code_point < 0x800) || (length == 4 && code_point < 0x10000);
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (overlong || surrogate || code_point > 0x10ffff) return {};
  return {code_point, length};
}

bool is_control(std::uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point <= 0x9f);
}

bool is_default_ignorable(std::uint32_t code_point) {
  const auto* range =
      std::ranges::lower_bound(kDefaultIgnorable, code_point, {}, &CodePoints::last);
  return range != std::end(kDefaultIgnorable) && range->first <= code_point;
}

std::string without_ignorable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character first = first_character(text);
    const std::size_t bytes = first.bytes == 0 ? 1 : first.bytes;
    if (first.bytes == 0 || !is_default_ignorable(first.code_point)) out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace firn
