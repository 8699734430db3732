#include "client/core/leaf_serving.h"

#include <utility>

#include "client/core/policy/constants.h"
#include "client/core/policy/pass_cost.h"

namespace firn::core {

LeafServing::LeafServing(const Context& context, Membership& membership, Outbox& outbox,
                         const Holdings& holdings, const PlainFetch& plain)
    : context_(context),
      membership_(membership),
      outbox_(outbox),
      holdings_(holdings),
      plain_(plain) {}

bool LeafServing::asked(Neighbour& n, const proto::LeafRequest& request) {
  const TokenBucket full(policy::kLeavesPerSecond, policy::kLeavesMax, context_.now);
  TokenBucket& allowance = allowances_.try_emplace(n.key, full).first->second;
  for (const std::uint32_t g : request.generations) {
    if (g >= holdings_.generation_count()) return false;
    if (!allowance.ready(context_.now)) break;  // the neighbour asks others, or again
    const bool reads = holdings_.verified().contains(g);
    allowance.take(reads ? policy::pass_cost(holdings_.shape(), g, policy::kLeafPassBytes) : 1);
    if (reads) {
      outbox_.push(MakeLeaves{n.key, g});
    } else {
      outbox_.send(n, proto::LeafReply{g, plain_.leaves_of(g)});
    }
  }
  return true;
}

void LeafServing::made(PeerKey peer, proto::LeafReply&& reply) {
  if (Neighbour* n = membership_.find(peer)) outbox_.send(*n, std::move(reply));
}

}  // namespace firn::core
