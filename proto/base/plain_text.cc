#include "proto/base/plain_text.h"

#include <algorithm>
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

// What shows as nothing, turns the direction of writing, or breaks a line.
bool is_hidden(std::uint32_t code_point) {
  const bool separates_lines = code_point == 0x2028 || code_point == 0x2029;
  const bool annotates = code_point >= 0xfff9 && code_point <= 0xfffb;
  return is_default_ignorable(code_point) || separates_lines || annotates;
}

void append_byte_escape(std::string& out, char byte) {
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02x", static_cast<std::uint8_t>(byte));
  out += byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : text;
}

void append_escape(std::string& out, std::uint32_t code_point) {
  char text[16];
  std::snprintf(text, sizeof text, code_point > 0xffff ? "\\U%08x" : "\\u%04x", code_point);
  out += text;
}

std::string escape(std::string_view text, bool keep_lines) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = plain_character(text);
    const std::uint32_t code_point = first_character(text).code_point;
    if (length == 0 && !(keep_lines && text.starts_with("\n  "))) {
      append_byte_escape(out, text[0]);
    } else if (length > 0 && is_hidden(code_point)) {
      append_escape(out, code_point);
    } else {
      out += text.substr(0, length == 0 ? 1 : length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
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

std::string escaped_json(std::string_view json) {
  std::string out;
  while (!json.empty()) {
    const Character first = first_character(json);
    const std::uint32_t c = first.code_point;
    const std::string_view character = json.substr(0, std::max<std::size_t>(first.bytes, 1));
    if (c > 0xffff && is_hidden(c)) {  // as UTF-16 has it (RFC 8259, section 7)
      append_escape(out, 0xd800 + ((c - 0x10000) >> 10));
      append_escape(out, 0xdc00 + (c & 0x3ff));
    } else if (c >= 0x7f && (is_control(c) || is_hidden(c))) {
      append_escape(out, c);
    } else {
      out += character;
    }
    json.remove_prefix(character.size());
  }
  return out;
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
