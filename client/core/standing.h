// What is known of a row besides its vector.
#pragma once

#include <cstdint>

namespace firn::core {

// The sender of a row answers for it unless it said otherwise; that makes it guilty of a false one,
// but proves nothing.
enum class Standing : std::uint8_t {
  kUnanswered,  // its sender said that it does not answer for it, or nothing is known
  kAnswered,
  kProven,  // it came from the authority, or was judged right
};

}  // namespace firn::core
