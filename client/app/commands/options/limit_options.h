// Options for limits that a person sets: a number, `none`, or `default`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "client/app/daemon/limit_texts.h"

namespace firn::app {

// --up and --down
void add_rate_options(CLI::App& app, LimitTexts& texts);
// --seed-ratio and --seed-time; `which` follows their descriptions.
void add_goal_options(CLI::App& app, LimitTexts& texts, const std::string& which);

}  // namespace firn::app
