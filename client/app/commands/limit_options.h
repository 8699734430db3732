// Options for limits that a person sets: a number, `none`, or `default`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "client/app/console/events.h"
#include "client/app/daemon/limit_values.h"

namespace firn::app {

// As they were given; empty: not.
struct LimitTexts {
  std::string up, down, seed_ratio, seed_time;
};

// --up and --down
void add_rate_options(CLI::App& app, LimitTexts& texts);
// --seed-ratio and --seed-time; `which` follows their descriptions.
void add_goal_options(CLI::App& app, LimitTexts& texts, const std::string& which);

// Of texts that the options have taken.
LimitChange limits_of(const LimitTexts& texts);
// As parameters of the daemon's methods.
void add_limit_params(const LimitTexts& texts, Json& params);

}  // namespace firn::app
