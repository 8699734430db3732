// Limits as people write them: a number with a unit, `none`, or `default`; and as parameters of the
// daemon's methods (docs/rpc.md).
#pragma once

#include <string>

#include "client/app/console/events.h"
#include "client/app/daemon/limit_values.h"
#include "proto/base/result.h"

namespace firn::app {

// As they were given; empty: not.
struct LimitTexts {
  std::string up, down, seed_ratio, seed_time;
};

// Bytes a second (1M), a ratio (1.5), a time (12h). Errors: kBadInput.
Result<std::int64_t> read_rate_limit(const std::string& text);
Result<std::int64_t> read_ratio_limit(const std::string& text);
Result<std::int64_t> read_time_limit(const std::string& text);

// Errors: of the first that cannot be read.
Result<LimitChange> limits_of(const LimitTexts& texts);
// As parameters of the daemon's methods.
void add_limit_params(const LimitChange& limits, Json& params);

}  // namespace firn::app
