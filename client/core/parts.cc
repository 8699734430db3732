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
      membership(context, life, trackers, outbox),
      gossip(context, life, membership, outbox),
      connections(context, life, membership, gossip),
      fetch(context, life, membership, outbox),
      serving(context, membership, outbox, uplink) {
  membership.watch(gossip);
  membership.watch(fetch);
  membership.watch(serving);
}

Transfer::Transfer(Parts& parts, const Shape& shape)
    : generations(shape, parts.context.options.memory_bytes),
      turns(parts.context, parts.life, parts.membership, parts.intake, generations),
      granting(parts.context, parts.life, parts.membership, parts.outbox, parts.intake,
               {parts.uplink, parts.downlink}, generations, turns),
      stalls(parts.context, parts.life, parts.membership, generations.holdings()),
      seeding(parts.context, parts.life, parts.membership, parts.outbox, parts.uplink,
              generations.holdings()),
      sending(parts.context, parts.membership, parts.outbox, parts.uplink, generations.holdings(),
              granting, seeding),
      receiving(parts.context, parts.life, parts.membership, parts.outbox, parts.intake,
                generations) {}

void Parts::start(const Shape& shape) {
  downlink.set_shape(shape);
  connections.set_block_bytes(shape.block_bytes);
  for (Neighbour& n : membership.neighbours()) n.holds.set_shape(shape);
  Transfer& made = transfer.emplace(*this, shape);
  membership.watch(made.granting);
  membership.watch(made.seeding);
  membership.watch(made.sending);
  membership.watch(made.receiving);
}

}  // namespace firn::core
