#include "proto/web/form.h"

#include <algorithm>

#include "proto/base/percent.h"
#include "proto/base/plain_text.h"

namespace firn::web {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The value of a parameter (`; name=value` or `; name="value"`) of a header; nullopt: none.
std::optional<std::string> parameter(std::string_view header, std::string_view name) {
  std::size_t at = header.find(';');
  while (at != std::string_view::npos) {
    std::string_view rest = header.substr(at + 1);
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string key = lower_case(trimmed(rest.substr(0, equals)));
    std::string_view value = rest.substr(equals + 1);
    std::size_t end = value.find(';');
    if (value.starts_with('"')) {
      const std::size_t quote = value.find('"', 1);
      if (quote == std::string_view::npos) return std::nullopt;
      end = value.find(';', quote);
      value = value.substr(1, quote - 1);
    } else {
      value = trimmed(value.substr(0, end));
    }
    if (key == name) return std::string(value);
    if (end == std::string_view::npos) return std::nullopt;
    at = static_cast<std::size_t>(rest.data() - header.data()) + equals + 1 + end;
  }
  return std::nullopt;
}

// What the headers of a part say its field is called; nullopt: nothing.
std::optional<std::string> part_name(std::string_view headers) {
  while (!headers.empty()) {
    const std::size_t end = std::min(headers.find("\r\n"), headers.size());
    const std::string_view line = headers.substr(0, end);
    if (lower_case(line.substr(0, 20)) == "content-disposition:") return parameter(line, "name");
    headers.remove_prefix(std::min(end + 2, headers.size()));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fields> parse_urlencoded(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    std::string pair(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    std::ranges::replace(pair, '+', ' ');
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = percent_decode(std::string_view(pair).substr(0, equals));
    auto value = percent_decode(std::string_view(pair).substr(std::min(equals + 1, pair.size())));
    if (!name || !value || fields.size() == kFieldsMax) return std::nullopt;
    fields.emplace_back(*std::move(name), *std::move(value));
  }
  return fields;
}

std::optional<Fields> parse_multipart(std::string_view content_type, std::string_view body) {
  const auto boundary = parameter(content_type, "boundary");
  constexpr std::size_t kBoundaryMax = 70;  // RFC 2046, 5.1.1
  if (!boundary || boundary->empty() || boundary->size() > kBoundaryMax) return std::nullopt;
  const std::string delimiter = "--" + *boundary;
  Fields fields;
  if (!body.starts_with(delimiter)) return std::nullopt;
  body.remove_prefix(delimiter.size());
  while (!body.starts_with("--")) {
    if (!body.starts_with("\r\n") || fields.size() == kFieldsMax) return std::nullopt;
    const std::size_t blank = body.find("\r\n\r\n");
    if (blank == std::string_view::npos) return std::nullopt;
    const auto name = part_name(body.substr(2, blank > 2 ? blank - 2 : 0));
    const std::string_view rest = body.substr(blank + 4);
    const std::size_t end = rest.find("\r\n" + delimiter);
    if (!name || end == std::string_view::npos) return std::nullopt;
    fields.emplace_back(*name, std::string(rest.substr(0, end)));
    body = rest.substr(end + 2 + delimiter.size());
  }
  return fields;
}

std::optional<Fields> parse_form(const Request& request) {
  const std::string type = lower_case(trimmed(
      std::string_view(request.content_type)
          .substr(0, std::min(request.content_type.find(';'), request.content_type.size()))));
  if (type == "application/x-www-form-urlencoded") return parse_urlencoded(request.body);
  if (type == "multipart/form-data") return parse_multipart(request.content_type, request.body);
  return std::nullopt;
}

}  // namespace firn::web
