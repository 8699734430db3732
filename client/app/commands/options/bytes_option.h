// Options that are a number of bytes, or of bytes per second.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace firn::app {

// Adds an option for bytes as parse_size() reads them. CLI11 refuses anything else with the reason.
CLI::Option* add_bytes_option(CLI::App& app, const std::string& name, std::uint64_t& bytes,
                              const std::string& description);
// The same for bytes per second, as parse_rate() reads them.
CLI::Option* add_rate_option(CLI::App& app, const std::string& name, std::uint64_t& rate,
                             const std::string& description);

}  // namespace firn::app
