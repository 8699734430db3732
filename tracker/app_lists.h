// The lists that tell a tracker what to serve: text files with an id or key a line, as `firn info`
// and `firn keygen` print them. `#` begins a comment; empty lines and spaces around mean nothing.
#pragma once

#include <string>

#include "proto/base/result.h"
#include "tracker/served_contents.h"

namespace firn::tracker {

// `publishers`, `contents`: paths; empty: no such list. Errors: kBadInput (a line that is no key or
// id, with its number), others as read_input_file.
Result<ServedLists> read_served_lists(const std::string& publishers, const std::string& contents);

}  // namespace firn::tracker
