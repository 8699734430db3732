// The daemon's contents in a terminal: a row of `firn list`, and the lines of `firn show`.
#pragma once

#include <string>
#include <vector>

#include "client/app/console/events.h"

namespace firn::app {

// The names of the columns, and their values.
std::string list_head();
std::string list_row(const Json& content);

// A line for each thing that there is to say.
std::vector<std::string> shown_lines(const Json& content);

// What the removal of a content leaves on disk that its user may not see there: of a download that
// is not complete. Empty: nothing.
std::string left_behind(const Json& content);

}  // namespace firn::app
