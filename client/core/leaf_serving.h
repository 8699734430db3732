// Leaf lists for neighbours (plain_fetch.h): of generations that this peer has verified, or of
// which it holds a list itself. What each neighbour may ask for is bounded: the leaves of a
// generation cost a pass over it, and 32 bytes a block.
#pragma once

#include <map>

#include "client/core/context.h"
#include "client/core/holdings.h"
#include "client/core/membership.h"
#include "client/core/outbox.h"
#include "client/core/plain_fetch.h"
#include "proto/base/token_bucket.h"
#include "proto/messages.h"

namespace firn::core {

class LeafServing final : public LeaveWatcher {
 public:
  LeafServing(const Context& context, Membership& membership, Outbox& outbox,
              const Holdings& holdings, const PlainFetch& plain);

  // False if the neighbour asks for what does not exist.
  bool asked(Neighbour& n, const proto::LeafRequest& request);
  // Sends what was made for this neighbour.
  void made(PeerKey peer, proto::LeafReply&& reply);

  void leaves(const Neighbour& n) override { allowances_.erase(n.key); }

 private:
  const Context& context_;
  Membership& membership_;
  Outbox& outbox_;
  const Holdings& holdings_;
  const PlainFetch& plain_;
  std::map<PeerKey, TokenBucket> allowances_;  // generations
};

}  // namespace firn::core
