#include "proto/base/plain_text.h"

#include <cstdint>
#include <cstdio>

#include "proto/base/characters.h"

namespace firn {
namespace {

// Bytes of the plain character at the start of `text` (1 to 4), or 0 if there is none.
std::size_t plain_character(std::string_view text) {
  const Character first = first_character(text);
  return is_control(first.code_point) ? 0 : first.bytes;
}

// What reorders or breaks what is shown beside it: U+200E, U+200F, U+2028 to U+202E, U+2066 to
// U+2069. `character` is plain.
bool turns_text(std::string_view character) {
  if (character.size() != 3 || character[0] != '\xe2') return false;
  const auto middle = static_cast<std::uint8_t>(character[1]);
  const auto last = static_cast<std::uint8_t>(character[2]);
  if (middle == 0x80) return last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae);
  return middle == 0x81 && last >= 0xa6 && last <= 0xa9;
}

void append_escape(std::string& out, std::string_view character) {
  char text[16];
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(character[i]); };
  if (character == "\n" || character == "\t") {
    out += character == "\n" ? "\\n" : "\\t";
    return;
  }
  if (character.size() == 1) {
    std::snprintf(text, sizeof text, "\\x%02x", byte(0));
  } else {
    std::snprintf(text, sizeof text, "\\u%04x",
                  (byte(0) & 0x0fu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu));
  }
  out += text;
}

std::string escape(std::string_view text, bool keep_lines) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = plain_character(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    const bool line_end = keep_lines && text.starts_with("\n  ");
    if ((length == 0 && !line_end) || turns_text(character)) {
      append_escape(out, character);
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace

std::string escaped(std::string_view text) {
  return escape(text, false);
}

std::string escaped_lines(std::string_view text) {
  return escape(text, true);
}

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

std::string lower_case(std::string_view text) {
  std::string low(text);
  for (char& c : low)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return low;
}

}  // namespace firn
