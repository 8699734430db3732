// Check sums for neighbours (judging.h), made by a peer that speaks for the authority: under a key
// of its own for each neighbour. What each may ask for is bounded: the sums of a generation cost a
// pass over it, and n t bytes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "client/core/context.h"
#include "client/core/holdings.h"
#include "client/core/membership.h"
#include "client/core/outbox.h"
#include "codec/secret_memory.h"
#include "proto/base/token_bucket.h"
#include "proto/messages.h"

namespace firn::core {

class CheckServing final : public LeaveWatcher {
 public:
  CheckServing(const Context& context, Membership& membership, Outbox& outbox,
               const Holdings& holdings);

  // False if the neighbour asks for what does not exist.
  bool asked(const Neighbour& n, const proto::CheckRequest& request);
  // Sends what was made for this neighbour.
  void made(PeerKey peer, proto::CheckReply&& reply);

  void leaves(const Neighbour& n) override { clients_.erase(n.key); }

 private:
  struct Client {
    TokenBucket allowance;                       // generations
    codec::SecretVector<std::uint8_t> key = {};  // drawn with the first sums
    bool told = false;                           // it has the key
  };
  Client& client(PeerKey peer);

  const Context& context_;
  Membership& membership_;
  Outbox& outbox_;
  const Holdings& holdings_;
  std::map<PeerKey, Client> clients_;
};

}  // namespace firn::core
