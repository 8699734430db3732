#include "client/app/push/node_set.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

namespace firn::app {
namespace {

constexpr std::size_t kDigitsMax = 18;  // fits 64 bits

Error bad_set(std::string_view text, const std::string& detail) {
  return {ErrorCode::kBadInput, fmt::format("hosts '{}'", text), detail};
}

Error too_many(std::string_view text, std::size_t count_max) {
  return bad_set(text, fmt::format("more than {} hosts", count_max));
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() <= kDigitsMax &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::uint64_t number_in(std::string_view digits) {
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// What follows a comma outside of brackets goes from `rest` to the result.
std::string_view take_item(std::string_view& rest) {
  const std::size_t comma = outside_brackets(rest, ',');
  const std::string_view item = rest.substr(0, comma);
  rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  return item;
}

// The numbers of one bracket: "001-010,12". `whole` is what the error names.
Result<std::vector<std::string>> numbers(std::string_view inside, std::string_view whole,
                                         std::size_t count_max) {
  std::vector<std::string> found;
  while (true) {
    const std::size_t comma = inside.find(',');
    const std::string_view range = inside.substr(0, comma);
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
    if (!is_digits(low) || !is_digits(high))
      return bad_set(whole,
                     "brackets hold numbers and ranges, as in node[1-100] or node[01,05-12]");
    const std::uint64_t from = number_in(low), to = number_in(high);
    if (from > to) return bad_set(whole, fmt::format("'{}' counts down", range));
    if (to - from >= count_max - found.size()) return too_many(whole, count_max);
    for (std::uint64_t number = from; number <= to; ++number)
      found.push_back(fmt::format("{:0{}}", number, low.size()));
    if (comma == std::string_view::npos) return found;
    inside.remove_prefix(comma + 1);
  }
}

// The members of one item without outer commas.
Result<std::vector<std::string>> members(std::string_view item, std::size_t count_max) {
  std::vector<std::string> names{""};
  std::string_view rest = item;
  while (!rest.empty()) {
    const std::size_t open = rest.find_first_of("[]");
    for (std::string& name : names) name += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    rest.remove_prefix(open + 1);
    const std::size_t close = rest.find(']');
    if (item[item.size() - rest.size() - 1] == ']' || close == std::string_view::npos)
      return bad_set(item, "a bracket without its other half");
    auto inside = numbers(rest.substr(0, close), item, count_max);
    if (!inside.ok()) return inside.error();
    if (inside->size() > count_max / names.size()) return too_many(item, count_max);
    std::vector<std::string> longer;
    for (const std::string& name : names)
      for (const std::string& number : *inside) longer.push_back(name + number);
    names = std::move(longer);
    rest.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace

std::size_t outside_brackets(std::string_view text, char character) {
  bool inside = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!inside && text[at] == character) return at;
    if (text[at] == '[') inside = true;
    if (text[at] == ']') inside = false;
  }
  return std::string_view::npos;
}

Result<std::vector<std::string>> node_set(std::string_view text, std::size_t count_max) {
  std::vector<std::string> all;
  std::string_view rest = text;
  do {
    auto names = members(take_item(rest), count_max);
    if (!names.ok()) return names.error();
    if (names->size() > count_max - all.size()) return too_many(text, count_max);
    for (std::string& name : *names) all.push_back(std::move(name));
  } while (!rest.empty());
  return all;
}

}  // namespace firn::app
