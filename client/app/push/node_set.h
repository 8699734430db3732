// Sets of hosts as clush writes them: "node[1-100]" is node1 to node100, "node[001-010,12]-ib"
// keeps the zeros, "rack[1-2]n[1-40]" has eighty members, and commas separate several.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/result.h"

namespace firn::app {

// The position of the first `character` outside of brackets; npos: there is none.
std::size_t outside_brackets(std::string_view text, char character);

// All members in order, at most `count_max`. What is in no bracket is copied as it is. Errors:
// kBadInput.
Result<std::vector<std::string>> node_set(std::string_view text, std::size_t count_max);

}  // namespace firn::app
