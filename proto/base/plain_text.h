// Text that may be shown to a person: what a peer or a manifest calls something goes to terminals
// and logs, so it is valid UTF-8 (RFC 3629) and holds no control characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace firn {

// Valid UTF-8 without control characters (U+0000..U+001F, U+007F..U+009F).
bool is_plain_text(std::string_view text);

// `text` made plain: every byte that does not fit becomes '?', and what passes `bytes_max` is cut
// off between two characters. Plain text within the bound comes back as it is.
std::string to_plain_text(std::string_view text, std::size_t bytes_max);

// `text` as it may go to a terminal or a log, whatever file or person it came from: what is not
// plain, what shows as nothing, and what turns the direction of writing around (docs/operations.md
// lists them) is escaped: \x1b for a byte, \u202e or \U000e0041 for a character, \n and \t. For one
// name or word.
std::string escaped(std::string_view text);
// The same for whole messages, whose further lines begin with two spaces: such line ends stay.
std::string escaped_lines(std::string_view text);

// A line of JSON with the same characters as JSON's escapes: it means what it meant.
std::string escaped_json(std::string_view json);

// ASCII's capital letters made small; other bytes stay.
std::string lower_case(std::string_view text);

}  // namespace firn
