// The secret that a program's HTTP door asks for.
#pragma once

#include <string>
#include <string_view>

#include "proto/base/result.h"

namespace firn::web {

// 256 random bits as text.
std::string fresh_token();

// Of the file, whose first line is the token; makes one, mode 0600, where nothing stands. Errors:
// kBadInput (others than its owner may read it; it holds no token: 20 to 200 letters, digits, '-',
// '.', '_' or '~'), others as read_input_file() and OutputFile.
Result<std::string> load_or_make_token(const std::string& path);

// In a time that does not tell where they differ.
bool same_secret(std::string_view a, std::string_view b);

// HMAC-SHA256 (RFC 2104) as text.
std::string derived_secret(std::string_view secret, std::string_view purpose);

}  // namespace firn::web
