// How a daemon takes a content up: what it keeps of one that is added, and the plan of its session.
#pragma once

#include "client/app/commands/options/options.h"
#include "client/app/commands/options/origin_options.h"
#include "client/app/daemon/kept_content.h"
#include "client/app/daemon/rpc.h"
#include "client/app/publishing/signer.h"
#include "client/app/session/session_plan.h"

namespace firn::app {

// What is kept of a content that a caller adds. Errors: kBadInput, and as read_source().
Result<KeptContent> read_added(const AddRequest& request);

// What a session is made from what is kept. `origins`: what goes along with requests to origins.
// `signer` speaks for the contents that it may speak for, as the peer `self`. Errors: as
// session_plan(), and of what is kept.
Result<SessionPlan> plan_kept(const NetworkOptions& network, const OriginOptions& origins,
                              const KeptContent& kept, const Signer& signer, const PeerId& self,
                              Console& console);

}  // namespace firn::app
