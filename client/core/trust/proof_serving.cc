#include "client/core/trust/proof_serving.h"

#include <utility>

namespace firn::core::trust {

// Generations a second that all neighbours together may ask a peer about which does not speak for
// the authority.
constexpr std::uint64_t kPeerSumsPerSecond = 128;

ProofServing::ProofServing(const World& world, Verdicts& verdicts, const PlainFetch& plain)
    : world_(world),
      verdicts_(verdicts),
      plain_(plain),
      for_peers_(kPeerSumsPerSecond, 2 * kPeerSumsPerSecond, world.context.now) {}

ProofServing::Client& ProofServing::client(PeerKey peer) {
  const auto known = clients_.find(peer);
  if (known != clients_.end()) return known->second;
  const TokenBucket sums(kChecksPerSecond, 2 * kChecksPerSecond, world_.context.now);
  const TokenBucket leaves(kLeavesPerSecond, 2 * kLeavesPerSecond, world_.context.now);
  return clients_.emplace(peer, Client{sums, leaves}).first->second;
}

// --- check sums ---

bool ProofServing::asked(const Neighbour& n, const proto::CheckRequest& request) {
  Client& asking = client(n.key);
  for (const std::uint32_t g : request.generations) {
    if (g >= world_.holdings.generation_count()) return false;
    if (!asking.sums.ready(world_.context.now)) break;  // the neighbour asks again later
    const bool its_key = !request.key.empty();
    if (its_key && !for_peers_.ready(world_.context.now)) break;
    const bool can =
        (its_key || !world_.context.certificate.empty()) && world_.holdings.verified().contains(g);
    const std::uint64_t price = can ? pass_cost(world_.holdings.shape(), g, kSumsPassBytes) : 1;
    asking.sums.take(price);
    if (its_key) for_peers_.take(price);
    if (its_key) asking.its_keys.emplace_back(request.key.begin(), request.key.end());
    if (can) {
      const auto& key = its_key ? asking.its_keys.back() : asking.key;
      verdicts_.push_back(MakeCheck{n.key, g, kCheckTagBytes, key});
    } else {
      made(n.key, proto::CheckReply{g, request.key, {}});
    }
  }
  return true;
}

bool ProofServing::is_under_its_key(Client& asking, const proto::CheckReply& reply) {
  const auto found =
      std::find_if(asking.its_keys.begin(), asking.its_keys.end(),
                   [&](const auto& key) { return std::ranges::equal(key, reply.key); });
  if (found == asking.its_keys.end()) return false;
  asking.its_keys.erase(found);
  return true;
}

// Keys that were drawn at the same time, before the first was known, are all good for their sums:
// so the key goes along until one has been told, and whenever it is another.
void ProofServing::made(PeerKey peer, proto::CheckReply&& reply) {
  if (!world_.neighbours.find(peer)) return;
  Client& asking = client(peer);
  if (is_under_its_key(asking, reply)) return verdicts_.push_back(Send{peer, std::move(reply)});
  if (reply.sums.empty() || (asking.told && std::ranges::equal(reply.key, asking.key))) {
    codec::wipe(reply.key.data(), reply.key.size());
    reply.key.clear();
  } else {
    asking.key.assign(reply.key.begin(), reply.key.end());
    asking.told = true;
  }
  verdicts_.push_back(Send{peer, std::move(reply)});
}

// --- leaves ---

bool ProofServing::asked(const Neighbour& n, const proto::LeafRequest& request) {
  Client& asking = client(n.key);
  for (const std::uint32_t g : request.generations) {
    if (g >= world_.holdings.generation_count()) return false;
    if (!asking.leaves.ready(world_.context.now)) break;  // the neighbour asks others, or again
    const bool reads = world_.holdings.verified().contains(g);
    asking.leaves.take(reads ? pass_cost(world_.holdings.shape(), g, kLeafPassBytes) : 1);
    if (reads) {
      verdicts_.push_back(MakeLeaves{n.key, g});
    } else {
      verdicts_.push_back(Send{n.key, proto::LeafReply{g, plain_.leaves_of(g)}});
    }
  }
  return true;
}

void ProofServing::made(PeerKey peer, proto::LeafReply&& reply) {
  if (world_.neighbours.find(peer)) verdicts_.push_back(Send{peer, std::move(reply)});
}

}  // namespace firn::core::trust
