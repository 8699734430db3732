// The known word that is nearest to an unknown one, which is probably a mistyped form of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace firn {

// Characters to insert, delete, replace, or swap with their neighbour, to make one word the other.
std::size_t edit_distance(std::string_view one, std::string_view other);

// The word of `known` that is nearest to `word`, whatever the case of letters; empty if none is
// near: a third of its length may differ. A word of which `word` is the beginning is near as well.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

}  // namespace firn
