// The manifest of a content of which only the link is known.
#pragma once

#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/options.h"
#include "client/app/console/console.h"
#include "client/app/console/exit_codes.h"

namespace firn::app {

// Asks the trackers and peers of the link and of the command line until one of them has the
// manifest, for 10 s at most, and puts it into `source`; nothing to do if it is there. kOk if it is
// there at the end; otherwise the failure has been said.
ExitCode find_manifest(const NetworkOptions& options, ContentSource& source, Console& console);

}  // namespace firn::app
