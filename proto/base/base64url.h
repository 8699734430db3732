// Base64url of RFC 4648, section 5, without padding: any bytes as letters, digits, '-' and '_'.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firn {

std::string base64url_encode(std::string_view bytes);
// nullopt unless `text` is exactly the encoding of some bytes: no padding, no stray bits.
std::optional<std::string> base64url_decode(std::string_view text);

}  // namespace firn
