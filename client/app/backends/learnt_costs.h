// What CPU and devices were seen to take for batches (codec/shared_backend.h), kept in the user's
// cache folder: a later run knows the crossover of --codec auto from its first batch. The file is
// of one machine's coders; a damaged file, or one of others, is ignored.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codec/shared_backend.h"

namespace firn::app {

using LearntCosts = std::vector<codec::SharedBackend::LearntCost>;

// `machine`: everything that the costs depend on and that may change between runs.
std::string costs_text(const std::string& machine, const LearntCosts& costs);
// Takes nothing but text of that machine whose every entry can be a cost; else empty.
LearntCosts parse_costs(const std::string& machine, const std::string& text);

// In that folder; an empty one means no file.
LearntCosts load_costs(const std::filesystem::path& folder, const std::string& machine);
void save_costs(const std::filesystem::path& folder, const std::string& machine,
                const LearntCosts& costs);

}  // namespace firn::app
