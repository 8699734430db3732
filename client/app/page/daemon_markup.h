// What the page of all contents shows of the daemon itself: its limits and its watched folders.
#pragma once

#include <string>

#include "client/app/console/events.h"

namespace firn::app {

// `daemon`: ContentFacts::daemon.
std::string limits_now(const Json& daemon);
std::string limits_form();
std::string watched_folders(const Json& daemon);
std::string watch_form(const Json& daemon);

// The words for a limit in bytes a second; "none" where it is null or 0.
std::string rate_words(const Json& of, const char* name);

// A field of a form with its label. `name`: unique in the page.
std::string labelled_field(const char* name, const char* label, const char* example,
                           bool required = false);

}  // namespace firn::app
