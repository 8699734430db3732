// What the page of all contents shows of the daemon itself: its limits and its watched folders.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/app/console/events.h"
#include "client/app/page/form_markup.h"

namespace firn::app {

// `daemon`: ContentFacts::daemon.
std::string limits_now(const Json& daemon);
std::string limits_form(const std::optional<Refusal>& refused);
std::string watched_folders(const Json& daemon);
std::string watch_form(const Json& daemon, const std::optional<Refusal>& refused);

// Names of facts, and their values as HTML. Empty ones are left out.
using NamedFacts = std::vector<std::pair<const char*, std::string>>;
std::string fact_list(const NamedFacts& facts);

}  // namespace firn::app
