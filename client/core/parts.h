// The parts of a swarm core, and how they are wired: a part is made with references to the parts
// that it needs, and knows no others. It calls only parts that are declared above it. Facts about a
// neighbour that several parts need are in Neighbour (neighbour.h).
#pragma once

#include <optional>
#include <vector>

#include "client/core/base/context.h"
#include "client/core/base/part.h"
#include "client/core/base/uplink.h"
#include "client/core/manifest/manifest_fetch.h"
#include "client/core/manifest/manifest_serving.h"
#include "client/core/mesh/connection_watch.h"
#include "client/core/mesh/gossip.h"
#include "client/core/mesh/membership.h"
#include "client/core/mesh/predecessors.h"
#include "client/core/mesh/trackers.h"
#include "client/core/neighbour/outbox.h"
#include "client/core/receive/downlink.h"
#include "client/core/receive/granting.h"
#include "client/core/receive/origin_fetch.h"
#include "client/core/receive/quota_turns.h"
#include "client/core/receive/receiving.h"
#include "client/core/receive/stall_watch.h"
#include "client/core/receive/store_pressure.h"
#include "client/core/rows/generations.h"
#include "client/core/send/seeding.h"
#include "client/core/send/sending.h"
#include "client/core/send/source/contributions.h"
#include "client/core/send/source/spread.h"
#include "client/core/trust/trust.h"

namespace firn::core {

struct Parts;

// The parts that need the content's shape; made when the manifest is known.
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
  OriginFetch origins;
};

struct Parts {
  Parts(const ContentId& content_id, Options options, TimeUs now);
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  // All parts that act of their own accord, in the order of a step. One that makes a message stands
  // after those that decide what is in it.
  std::vector<Part*> order;

  // Makes `transfer`. `met_proven`: an earlier run left rows that are proven.
  void start(const Info& info, bool met_proven = false);

  Context context;
  Life life;
  Uplink uplink;
  Downlink downlink;
  StorePressure pressure;
  Outbox outbox;
  Trackers trackers;
  Membership membership;
  const MeshPart mesh{context, life, membership, outbox};  // what most of the others are made with
  Predecessors predecessors;
  Gossip gossip;
  ConnectionWatch connections;
  ManifestFetch fetch;
  ManifestServing serving;
  std::optional<Transfer> transfer;
};

}  // namespace firn::core
