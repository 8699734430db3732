// What the commands that read media (`firn medium read`, `firn seed --from-medium`) say of them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "client/app/console/console.h"
#include "client/app/medium/restoring.h"

namespace firn::app {

// The event `medium_read`: all these media together.
Json medium_read_event(const ContentId& content, std::span<const MediumJournal> media,
                       const Restored& restored);
// "12 of 340 frames lost (3.5 %)"
std::string losses_text(std::span<const MediumJournal> media);

// A warning that the bits of the medium `path` fit other rates than its user told, or its plan
// says.
OnMisfit misfit_warning(const std::string& path, bool told, Console& console);
// A warning where rows of the media are false; none if all are right.
void warn_of_false_rows(const Restored& restored, const ContentId& content, Console& console);

}  // namespace firn::app
