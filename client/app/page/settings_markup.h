// What a content's page changes of how the daemon treats it: limits, its place in the queue, its
// folder.
#pragma once

#include <optional>
#include <string>

#include "client/app/console/events.h"
#include "client/app/page/file_markup.h"
#include "client/app/page/form_markup.h"

namespace firn::app {

std::string settings_forms(const Json& details, const std::optional<Refusal>& refused);
// Ways to remove it, which ask first.
std::string removal_forms(const Json& details);

// Which of its files are fetched, as boxes to tick. Empty: there is nothing to choose.
std::string files_form(const Json& details, const ListedFiles& files,
                       const std::optional<Refusal>& refused);

}  // namespace firn::app
