// A peer's metrics.
#pragma once

#include "client/app/page/metrics_facts.h"
#include "proto/web/metrics_text.h"

namespace firn::app {

web::MetricsText metrics_of(const MetricsFacts& facts);

}  // namespace firn::app
