// What a browser sends of a form: application/x-www-form-urlencoded (WHATWG URL, section 5) and
// multipart/form-data (RFC 7578). Bytes from the network: bounded by the caller's body, and by
// kFieldsMax.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proto/web/http_message.h"

namespace firn::web {

inline constexpr std::size_t kFieldsMax = 64;

// nullopt: an escape is wrong, or there are more than kFieldsMax.
std::optional<Fields> parse_urlencoded(std::string_view text);

// A file is a field whose value is the file's bytes; the name that it had is left out. nullopt: no
// boundary, a part without a name, no end, or more than kFieldsMax parts.
std::optional<Fields> parse_multipart(std::string_view content_type, std::string_view body);

// Either, as the request's Content-Type says. nullopt: another type, or as above.
std::optional<Fields> parse_form(const Request& request);

}  // namespace firn::web
