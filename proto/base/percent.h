// Percent-encoding of bytes in URIs and forms (RFC 3986, section 2.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firn {

// '+' stands for itself. nullopt where '%' is not followed by two hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text);

// All bytes encoded but unreserved characters (section 2.3) and those of `also`.
std::string percent_encode(std::string_view text, std::string_view also = {});

}  // namespace firn
