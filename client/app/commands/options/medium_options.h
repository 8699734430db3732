// Options that the commands of `firn medium` share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "client/app/commands/options/options.h"
#include "client/app/console/console.h"
#include "client/app/medium/medium_times.h"
#include "client/medium/label.h"
#include "client/medium/plan.h"

namespace firn::app {

// What a medium does to its bits.
struct RatesOptions {
  double rate = 0;  // of insertions and of deletions
  double insertions = -1, deletions = -1, flips = 0;
};
void add_rates_options(CLI::App& app, RatesOptions& options);
// Nothing if none were given. Errors: kBadInput.
Result<std::optional<medium::Rates>> rates_of(const RatesOptions& options);

struct PlanOptions {
  RatesOptions rates;
  double loss = 1e-9;
  double missing = 0;
};
void add_plan_options(CLI::App& app, PlanOptions& options);
Result<medium::PlanRequest> plan_request(const PlanOptions& options);

// "3 % of the bits lost, 3 % gained, 0 % flipped".
std::string rates_text(const medium::Rates& rates);
// What a plan is and takes, as lines of a table and as an event.
void show_plan(const medium::Plan& plan, const MediumTimes& times, Console& console);

}  // namespace firn::app
