// --until of share and seed: when they end by themselves.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "client/core/base/types.h"
#include "proto/base/result.h"

namespace firn::app {

CLI::Option* add_until_option(CLI::App& app, std::string& until);

// N | all-of:HOST,HOST... | all-of:@FILE, or as parse_seed_policy(); empty: forever. Waits for the
// addresses of the hosts. Errors: kBadInput, kUnreachable (a name does not resolve), and those of
// read_input_lines().
Result<core::SeedPolicy> read_until(const std::string& until);

}  // namespace firn::app
