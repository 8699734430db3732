// What the tracker counts, in Prometheus' text format (version 0.0.4).
#pragma once

#include <cstdint>
#include <string>

#include "tracker/snapshot.h"

namespace firn::tracker {

// Of this process.
struct ProcessUse {
  double cpu_seconds = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t open_descriptors = 0, descriptors_max = 0;
  double started_at = 0;  // seconds since 1970
};

// `started_at`: ProcessUse::started_at.
ProcessUse process_use(double started_at);

std::string metrics_text(const Snapshot& snapshot, const ProcessUse& process);

}  // namespace firn::tracker
