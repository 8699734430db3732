#include "client/core/check_serving.h"

#include <algorithm>
#include <utility>

#include "client/core/policy/constants.h"
#include "client/core/policy/pass_cost.h"

namespace firn::core {

CheckServing::CheckServing(const Context& context, Membership& membership, Outbox& outbox,
                           const Holdings& holdings)
    : context_(context),
      membership_(membership),
      outbox_(outbox),
      holdings_(holdings),
      for_peers_(policy::kPeerSumsPerSecond, policy::kPeerSumsMax, context.now) {}

CheckServing::Client& CheckServing::client(PeerKey peer) {
  const auto known = clients_.find(peer);
  if (known != clients_.end()) return known->second;
  const TokenBucket allowance(policy::kChecksPerSecond, policy::kChecksMax, context_.now);
  return clients_.emplace(peer, Client{allowance}).first->second;
}

bool CheckServing::makes(std::uint32_t g, bool with_key) const {
  return (with_key || !context_.certificate.empty()) && holdings_.verified().contains(g);
}

bool CheckServing::asked(const Neighbour& n, const proto::CheckRequest& request) {
  Client& asking = client(n.key);
  for (const std::uint32_t g : request.generations) {
    if (g >= holdings_.generation_count()) return false;
    if (!asking.allowance.ready(context_.now)) break;  // the neighbour asks again later
    const bool its_key = !request.key.empty();
    if (its_key && !for_peers_.ready(context_.now)) break;
    const bool can = makes(g, its_key);
    const std::uint64_t cost =
        can ? policy::pass_cost(holdings_.shape(), g, policy::kSumsPassBytes) : 1;
    asking.allowance.take(cost);
    if (its_key) for_peers_.take(cost);
    if (its_key) asking.its_keys.emplace_back(request.key.begin(), request.key.end());
    if (can) {
      const auto& key = its_key ? asking.its_keys.back() : asking.key;
      outbox_.push(MakeCheck{n.key, g, policy::kCheckTagBytes, key});
    } else {
      made(n.key, {g, request.key, {}});
    }
  }
  return true;
}

bool CheckServing::is_under_its_key(Client& asking, const proto::CheckReply& reply) {
  const auto found =
      std::find_if(asking.its_keys.begin(), asking.its_keys.end(),
                   [&](const auto& key) { return std::ranges::equal(key, reply.key); });
  if (found == asking.its_keys.end()) return false;
  asking.its_keys.erase(found);
  return true;
}

// Keys that were drawn at the same time, before the first was known, are all good for their sums:
// so the key goes along until one has been told, and whenever it is another.
void CheckServing::made(PeerKey peer, proto::CheckReply&& reply) {
  Neighbour* n = membership_.find(peer);
  if (!n) return;
  Client& asking = client(peer);
  if (is_under_its_key(asking, reply)) return outbox_.send(*n, std::move(reply));
  if (reply.sums.empty() || (asking.told && std::ranges::equal(reply.key, asking.key))) {
    codec::wipe(reply.key.data(), reply.key.size());
    reply.key.clear();
  } else {
    asking.key.assign(reply.key.begin(), reply.key.end());
    asking.told = true;
  }
  outbox_.send(*n, std::move(reply));
}

}  // namespace firn::core
