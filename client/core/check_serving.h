// Check sums for neighbours: under the key that they send, of any generation that is verified here
// (peer_checks.h); or, by a peer that speaks for the authority, under a key of its own for each
// neighbour (judging.h). What each may ask for is bounded: the sums of a generation cost a pass
// over it, and n t bytes.
#pragma once

#include <cstdint>
#include <deque>
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
    TokenBucket allowance;                                        // generations
    codec::SecretVector<std::uint8_t> key = {};                   // drawn with the first sums
    bool told = false;                                            // it has the key
    std::deque<codec::SecretVector<std::uint8_t>> its_keys = {};  // sums under them are being made
  };
  Client& client(PeerKey peer);
  bool makes(std::uint32_t g, bool with_key) const;
  bool is_under_its_key(Client& asking, const proto::CheckReply& reply);

  const Context& context_;
  Membership& membership_;
  Outbox& outbox_;
  const Holdings& holdings_;
  TokenBucket for_peers_;  // generations, of all neighbours together, under their keys
  std::map<PeerKey, Client> clients_;
};

}  // namespace firn::core
