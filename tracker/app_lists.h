// The lists that tell a tracker what to serve: text files with an id or key a line, as `firn info`
// and `firn keygen` print them. `#` begins a comment; empty lines and spaces around mean nothing.
// Behind a publisher's key its limits may stand, which go before those of all:
//
//   KEY contents=20 manifest-kib=512 peers=5000
#pragma once

#include <string>

#include "proto/base/result.h"
#include "tracker/served_contents.h"

namespace firn::tracker {

// `publishers`, `contents`: paths; empty: no such list. `of_all`: of publishers whose lines say
// nothing else. Errors: kBadInput (a line that is no key or id, or has a wrong limit, with its
// number), others as read_input_file.
Result<ServedLists> read_served_lists(const std::string& publishers, const std::string& contents,
                                      const PublisherLimits& of_all = {});

}  // namespace firn::tracker
