#include "client/app/commands/transfer/planning.h"

#include <utility>

#include "client/app/commands/options/publishing_options.h"

namespace firn::app {

Result<SessionPlan> session_plan(ContentSource source, const NetworkOptions& network,
                                 const std::string& publisher, const std::string& dir) {
  if (const Status right = require_publisher(source, publisher); !right.ok()) return right.error();
  if (const Status may = require_secret(source); !may.ok()) return may.error();
  auto core = core_options(network, source.trackers, source.peers);
  if (!core.ok()) return core.error();
  SessionPlan plan;
  plan.content_id = source.content_id;
  plan.keys = source.keys();
  plan.manifest = std::move(source.manifest);
  plan.dir = dir;
  plan.origins.from_link = std::move(source.origins);
  plan.core = *std::move(core);
  plan.core.publisher = source.publisher;
  return plan;
}

bool can_come_from_origin(const SessionPlan& plan) {
  const OriginPlan& origins = plan.origins;
  return plan.manifest && !origins.none && !(origins.by_hand.empty() && origins.from_link.empty());
}

}  // namespace firn::app
