#include "client/core/parts.h"

#include <utility>

namespace firn::core {

Parts::Parts(const ContentId& content_id, Options options, TimeUs now)
    : context{content_id, std::move(options), now},
      life(now),
      uplink(context.options, now),
      downlink(context.options, now),
      outbox(context, uplink),
      trackers(context, life, outbox),
      membership(context, life, trackers, outbox, order),
      predecessors(context, life),
      gossip(mesh),
      connections(mesh),
      fetch(mesh, trackers),
      serving(mesh, uplink) {
  order = {&predecessors, &connections, &gossip, &membership, &fetch, &serving};
}

Transfer::Transfer(Parts& parts, const Info& info, bool met_proven)
    : generations(info.shape, parts.context.options.memory_bytes),
      trust({parts.context, parts.life, parts.membership.neighbours(), parts.membership.count(),
             generations.holdings()},
            info.authority_key, info.generation_digests, met_proven),
      turns(parts.mesh, parts.pressure, generations),
      granting(parts.mesh, parts.pressure, {parts.uplink, parts.downlink}, generations, turns,
               trust),
      stalls(parts.mesh, parts.uplink, generations.holdings()),
      seeding(parts.mesh, parts.uplink, generations.holdings(), granting),
      spread(parts.context, parts.membership),
      contributions(parts.context, parts.membership, spread),
      sending(parts.mesh, parts.uplink, generations.holdings(), granting, seeding, trust, spread,
              contributions),
      receiving(parts.mesh, parts.pressure, trust, generations),
      origins(parts.mesh, parts.trackers, parts.pressure, parts.downlink, generations, receiving) {}

void Parts::start(const Info& info, bool met_proven) {
  const Shape& shape = info.shape;
  downlink.set_shape(shape);
  connections.set_block_bytes(shape.block_bytes);
  for (Neighbour& n : membership.neighbours()) n.holds.set_shape(shape);
  Transfer& made = transfer.emplace(*this, info, met_proven);
  order.insert(order.end(),
               {&made.receiving, &made.origins, &made.turns, &made.stalls, &made.spread,
                &made.contributions, &made.sending, &made.granting, &made.seeding});
}

}  // namespace firn::core
