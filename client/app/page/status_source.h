// What a page shows of this process, and what it lets one do. Main thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/app/console/events.h"
#include "client/app/page/file_markup.h"
#include "client/app/page/metrics_facts.h"
#include "client/core/view/swarm_view.h"
#include "proto/base/result.h"

namespace firn::app {

class DaemonMethods;  // daemon/rpc.h

// A content as the page of it needs it.
struct ContentFacts {
  Json details;  // docs/rpc.md, as `show`
  std::optional<core::SwarmView> swarm;
  ListedFiles files;  // of none while they are not known
  Json daemon =
      Json::object();  // of the list: docs/rpc.md, as `status`, with `folders` of `watches`
};

struct ContentRate {
  std::string content_id;
  double down = 0;  // bytes a second
  double up = 0;
};

class StatusSource {
 public:
  virtual ~StatusSource() = default;
  // An array; docs/rpc.md, as `list`.
  virtual Result<Json> contents() = 0;
  virtual Result<ContentFacts> content(const std::string& id) = 0;
  // Of contents that have a session.
  virtual std::vector<ContentRate> rates() = 0;
  virtual MetricsFacts metrics() = 0;
  // Null: the page shows, and changes nothing.
  virtual DaemonMethods* methods() = 0;
};

}  // namespace firn::app
