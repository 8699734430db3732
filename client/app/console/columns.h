// How much room text takes on a terminal, as the C library knows it: a letter of Chinese takes two
// columns, an accent that joins the letter before it takes none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace firn::app {

// Columns of UTF-8 text; what is no character counts as one.
std::size_t columns_of(std::string_view text);

// As much of the beginning as fits.
std::string cut(std::string_view text, std::size_t columns);

}  // namespace firn::app
