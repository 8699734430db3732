// The objects of `firn push --json`, as events.h.
#pragma once

#include <string>
#include <vector>

#include "client/app/console/events.h"
#include "client/app/push/host_row.h"

namespace firn::app {

// "waiting", "connecting", "starting", "receiving", "complete", "failed".
const char* host_state_name(HostState state);

// At each change of a host's state.
Json push_host_event(const HostRow& row);
// Once a second.
Json push_progress_event(const std::vector<HostRow>& rows, double seconds);
Json push_end_event(const std::vector<HostRow>& rows, double seconds);

}  // namespace firn::app
