#include "client/core/check_serving.h"

#include <algorithm>
#include <utility>

#include "client/core/policy/constants.h"

namespace firn::core {

CheckServing::CheckServing(const Context& context, Membership& membership, Outbox& outbox,
                           const Holdings& holdings)
    : context_(context), membership_(membership), outbox_(outbox), holdings_(holdings) {}

bool CheckServing::allowed(Client& client) const {
  const double seconds = static_cast<double>(context_.now - client.since) / kSecond;
  client.since = context_.now;
  client.allowance =
      std::min(policy::kChecksMax, client.allowance + seconds * policy::kChecksPerSecond);
  if (client.allowance < 1) return false;
  --client.allowance;
  return true;
}

bool CheckServing::asked(const Neighbour& n, const proto::CheckRequest& request) {
  const auto known =
      clients_.try_emplace(n.key, Client{policy::kChecksMax, context_.now, {}, false});
  Client& client = known.first->second;
  for (const std::uint32_t g : request.generations) {
    if (g >= holdings_.generation_count()) return false;
    if (!allowed(client)) break;  // the neighbour asks again later
    if (context_.options.certificate.empty() || !holdings_.verified().contains(g)) {
      made(n.key, {g, {}, {}});
    } else {
      outbox_.push(MakeCheck{n.key, g, policy::kCheckTagBytes, client.key});
    }
  }
  return true;
}

// Keys that were drawn at the same time, before the first was known, are all good for their sums:
// so the key goes along until one has been told, and whenever it is another.
void CheckServing::made(PeerKey peer, proto::CheckReply&& reply) {
  Neighbour* n = membership_.find(peer);
  if (!n) return;
  Client& client = clients_[peer];
  if (client.told && reply.key == client.key) {
    reply.key.clear();
  } else if (!reply.sums.empty()) {
    client.key = reply.key;
    client.told = true;
  }
  outbox_.send(*n, std::move(reply));
}

}  // namespace firn::core
