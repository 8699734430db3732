// The characters of a UTF-8 text, one by one, and what Unicode says of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace firn {

struct Character {
  std::uint32_t code_point = 0;
  std::size_t bytes = 0;  // 1 to 4; 0: these bytes are no UTF-8 (RFC 3629)
};

// The first character of `text`, which is not empty.
Character first_character(std::string_view text);

// U+0000..U+001F, U+007F..U+009F.
bool is_control(std::uint32_t code_point);

// Characters that show as nothing, by Unicode's property Default_Ignorable_Code_Point: a name looks
// the same with and without them.
bool is_default_ignorable(std::uint32_t code_point);

// `text` without those.
std::string without_ignorable(std::string_view text);

}  // namespace firn
