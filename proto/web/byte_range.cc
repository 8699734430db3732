#include "proto/web/byte_range.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "proto/base/plain_text.h"

namespace firn::web {
namespace {

constexpr std::string_view kUnit = "bytes=";

// 1*DIGIT; what no 64 bits hold lies behind every end.
std::optional<std::uint64_t> position(std::string_view digits) {
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return fault == std::errc() ? value : UINT64_MAX;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

ByteRange byte_range(std::string_view range, std::uint64_t size) {
  const ByteRange whole{ByteRange::Kind::kWhole, 0, size};
  const ByteRange unsatisfiable{ByteRange::Kind::kUnsatisfiable, 0, 0};
  range = without_blanks(range);
  if (lower_case(range.substr(0, kUnit.size())) != kUnit) return whole;
  const std::string_view spec = without_blanks(range.substr(kUnit.size()));
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos) return whole;
  const auto first = position(spec.substr(0, dash)), last = position(spec.substr(dash + 1));
  if (dash == 0) {
    if (!last || (size == 0 && *last > 0)) return whole;
    const std::uint64_t bytes = std::min(*last, size);
    return bytes == 0 ? unsatisfiable : ByteRange{ByteRange::Kind::kPart, size - bytes, bytes};
  }
  const bool is_open = dash + 1 == spec.size();
  if (!first || !(last || is_open) || (last && *last < *first)) return whole;
  if (*first >= size) return unsatisfiable;
  const std::uint64_t end = is_open || *last >= size ? size : *last + 1;
  return {ByteRange::Kind::kPart, *first, end - *first};
}

bool range_holds(std::string_view if_range, std::string_view etag) {
  return if_range.empty() || without_blanks(if_range) == etag;
}

std::string content_range(const ByteRange& range, std::uint64_t size) {
  if (range.kind == ByteRange::Kind::kUnsatisfiable) return "bytes */" + std::to_string(size);
  return "bytes " + std::to_string(range.first) + "-" +
         std::to_string(range.first + range.bytes - 1) + "/" + std::to_string(size);
}

}  // namespace firn::web
