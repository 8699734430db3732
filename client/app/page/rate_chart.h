// Rates over time as SVG, with the same as a table.
#pragma once

#include <string>

#include "client/app/page/rate_history.h"

namespace firn::app {

// `label`: of what; text.
std::string rate_chart(const RateHistory::Samples& samples, const std::string& label);

}  // namespace firn::app
