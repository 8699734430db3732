// What the tracker counts, as metrics.
#pragma once

#include "proto/web/metrics_text.h"
#include "tracker/snapshot.h"

namespace firn::tracker {

web::MetricsText metrics_of(const Snapshot& snapshot);

}  // namespace firn::tracker
