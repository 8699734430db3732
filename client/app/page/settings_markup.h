// What a content's page shows and changes of how the daemon treats it: limits, its place in the
// queue, its folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/app/console/events.h"

namespace firn::app {

// Names, and values as HTML, of what is worth a line.
std::vector<std::pair<const char*, std::string>> settings_facts(const Json& details);
std::string settings_forms(const Json& details);

}  // namespace firn::app
