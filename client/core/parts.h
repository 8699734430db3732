// The parts of a swarm core, wired together: each is made with the ones it needs, and knows no
// others. Parts that stand lower are made with parts above them, and call these; what several of
// them keep about a neighbour is in Neighbour (neighbour.h).
#pragma once

#include <optional>

#include "client/core/connection_watch.h"
#include "client/core/context.h"
#include "client/core/contributions.h"
#include "client/core/downlink.h"
#include "client/core/generations.h"
#include "client/core/gossip.h"
#include "client/core/granting.h"
#include "client/core/intake.h"
#include "client/core/manifest_fetch.h"
#include "client/core/manifest_serving.h"
#include "client/core/membership.h"
#include "client/core/outbox.h"
#include "client/core/predecessors.h"
#include "client/core/quota_turns.h"
#include "client/core/receiving.h"
#include "client/core/seeding.h"
#include "client/core/sending.h"
#include "client/core/spread.h"
#include "client/core/stall_watch.h"
#include "client/core/trackers.h"
#include "client/core/trust/trust.h"
#include "client/core/uplink.h"

namespace firn::core {

struct Parts;

// What there is once the content's shape is known.
struct Transfer {
  Transfer(Parts& parts, const Info& info, bool met_proven);

  Generations generations;
  trust::Trust trust;
  QuotaTurns turns;
  Granting granting;
  StallWatch stalls;
  Seeding seeding;
  Spread spread;
  Contributions contributions;
  Sending sending;
  Receiving receiving;
};

struct Parts {
  Parts(const ContentId& content_id, Options options, TimeUs now);
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  // Makes `transfer`. `met_proven`: an earlier run left rows that are proven.
  void start(const Info& info, bool met_proven = false);

  Context context;
  Life life;
  Uplink uplink;
  Downlink downlink;
  Intake intake;
  Outbox outbox;
  Trackers trackers;
  Membership membership;
  Predecessors predecessors;
  Gossip gossip;
  ConnectionWatch connections;
  ManifestFetch fetch;
  ManifestServing serving;
  std::optional<Transfer> transfer;
};

}  // namespace firn::core
