// The tracker's page and its JSON.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "proto/web/live_update.h"
#include "tracker/snapshot.h"

namespace firn::tracker {

struct StatusView {
  Snapshot now;
  std::vector<double> rates;  // announces a second, oldest first, one for each second
  std::size_t rates_max = 0;  // 2 at least
  std::chrono::seconds running{0};
};

web::Regions status_regions(const StatusView& view);
std::string status_page(const StatusView& view);
// docs/operations.md, "The tracker's page".
std::string status_json(const StatusView& view);

}  // namespace firn::tracker
