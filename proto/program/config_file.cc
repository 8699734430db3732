#include "proto/program/config_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "proto/base/plain_text.h"
#include "proto/program/input_file.h"

namespace firn {
namespace {

// Dots of a line. Each may make a table within the one before, which toml++ 3.3 frees by recursion.
constexpr std::ptrdiff_t kDotsMax = 1024;

std::string text_of(double number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  return {digits, end.ptr};
}

// A text or a number as a word of a command line. False: it is neither.
bool add_value(const toml::node& node, std::vector<std::string>& values) {
  if (const auto* text = node.as_string()) {
    values.push_back(text->get());
  } else if (const auto* whole = node.as_integer()) {
    values.push_back(std::to_string(whole->get()));
  } else if (const auto* real = node.as_floating_point()) {
    values.push_back(text_of(real->get()));
  } else {
    return false;
  }
  return true;
}

using Kind = ConfigEntry::Kind;

Kind read_value(const toml::node& node, std::vector<std::string>& values) {
  if (node.is_table()) return Kind::kTable;
  if (const auto* on = node.as_boolean()) {
    values.push_back(on->get() ? "true" : "false");
    return Kind::kSwitch;
  }
  if (const auto* list = node.as_array()) {
    for (const toml::node& item : *list)
      if (!add_value(item, values)) return Kind::kOther;
    return Kind::kList;
  }
  return add_value(node, values) ? Kind::kValue : Kind::kOther;
}

void add_entries(const toml::table& table, const std::vector<std::string>& tables,
                 std::vector<ConfigEntry>& entries) {
  for (const auto& [key, node] : table) {
    ConfigEntry entry;
    entry.path = tables;
    entry.path.emplace_back(key.str());
    entry.line = key.source().begin.line;
    entry.kind = read_value(node, entry.values);
    entries.push_back(entry);
    if (const toml::table* inner = node.as_table()) add_entries(*inner, entry.path, entries);
  }
}

Status check_depth(const ConfigFile& file, std::string_view text) {
  std::uint32_t line = 1;
  while (!text.empty()) {
    const std::string_view first = text.substr(0, text.find('\n'));
    if (std::count(first.begin(), first.end(), '.') > kDotsMax)
      return Error{ErrorCode::kBadInput, file.place(line), "the line has too many dots"};
    text.remove_prefix(std::min(text.size(), first.size() + 1));
    ++line;
  }
  return Done{};
}

}  // namespace

std::string ConfigFile::place(std::uint32_t line) const {
  return escaped(path) + ":" + std::to_string(line);
}

Result<ConfigFile> parse_config(const std::string& path, const std::string& text) {
  ConfigFile file;
  file.path = path;
  if (text.size() > kConfigBytesMax)
    return Error{ErrorCode::kBadInput, "read " + escaped(path),
                 "it has more than " + std::to_string(kConfigBytesMax) + " bytes"};
  if (const Status fit = check_depth(file, text); !fit.ok()) return fit.error();
  try {
    add_entries(toml::parse(text), {}, file.entries);
  } catch (const toml::parse_error& error) {
    return Error{ErrorCode::kBadInput, file.place(error.source().begin.line),
                 escaped(error.description())};
  }
  std::stable_sort(file.entries.begin(), file.entries.end(),
                   [](const auto& one, const auto& other) { return one.line < other.line; });
  return file;
}

Result<ConfigFile> read_config_file(const std::string& path) {
  const auto text = read_trusted_file(path, kConfigBytesMax);
  if (!text.ok()) return text.error();
  return parse_config(path, *text);
}

}  // namespace firn
