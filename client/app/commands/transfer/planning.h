// What get, seed and the daemon have in common when they plan a content's session.
#pragma once

#include <string>

#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/options.h"
#include "client/app/session/session_plan.h"
#include "proto/base/result.h"

namespace firn::app {

// The plan as source and options say; mode, seeding, origins given by hand and what else a command
// wants are for the caller to set. `publisher`: as require_publisher(). `dir`: SessionPlan::dir.
// Errors: kBadInput (an address; another publisher; a secret that is missing), kWrongIdentity.
Result<SessionPlan> session_plan(ContentSource source, const NetworkOptions& network,
                                 const std::string& publisher, const std::string& dir);

// Whether the content can come although no tracker and no peer is known.
bool can_come_from_origin(const SessionPlan& plan);

}  // namespace firn::app
