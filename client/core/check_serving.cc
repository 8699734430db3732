#include "client/core/check_serving.h"

#include <algorithm>
#include <utility>

#include "client/core/policy/constants.h"
#include "client/core/policy/pass_cost.h"

namespace firn::core {

CheckServing::CheckServing(const Context& context, Membership& membership, Outbox& outbox,
                           const Holdings& holdings)
    : context_(context), membership_(membership), outbox_(outbox), holdings_(holdings) {}

CheckServing::Client& CheckServing::client(PeerKey peer) {
  const auto known = clients_.find(peer);
  if (known != clients_.end()) return known->second;
  const TokenBucket allowance(policy::kChecksPerSecond, policy::kChecksMax, context_.now);
  return clients_.emplace(peer, Client{allowance}).first->second;
}

bool CheckServing::asked(const Neighbour& n, const proto::CheckRequest& request) {
  Client& asking = client(n.key);
  for (const std::uint32_t g : request.generations) {
    if (g >= holdings_.generation_count()) return false;
    if (!asking.allowance.ready(context_.now)) break;  // the neighbour asks again later
    const bool can = !context_.options.certificate.empty() && holdings_.verified().contains(g);
    asking.allowance.take(can ? policy::pass_cost(holdings_.shape(), g, policy::kSumsPassBytes)
                              : 1);
    if (!can) {
      made(n.key, {g, {}, {}});
    } else {
      outbox_.push(MakeCheck{n.key, g, policy::kCheckTagBytes, asking.key});
    }
  }
  return true;
}

// Keys that were drawn at the same time, before the first was known, are all good for their sums:
// so the key goes along until one has been told, and whenever it is another.
void CheckServing::made(PeerKey peer, proto::CheckReply&& reply) {
  Neighbour* n = membership_.find(peer);
  if (!n) return;
  Client& asking = client(peer);
  if (asking.told && std::ranges::equal(reply.key, asking.key)) {
    codec::wipe(reply.key.data(), reply.key.size());
    reply.key.clear();
  } else if (!reply.sums.empty()) {
    asking.key.assign(reply.key.begin(), reply.key.end());
    asking.told = true;
  }
  outbox_.send(*n, std::move(reply));
}

}  // namespace firn::core
