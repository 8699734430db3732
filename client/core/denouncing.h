// False claims (claims.h) on their way to the authority, and its word on their way back. A claim
// goes to a neighbour that speaks for the authority, or to the one from which Epochs come first;
// where the accused is not named by an Epoch soon, it goes to another neighbour, as the first may
// keep it back. The Epochs name those that the authority has found guilty (convictions.h): every
// peer parts with them, whether it has met them or not.
//
// Relays hand on few claims about each peer: one convicts it, and true claims, which liars may send
// instead, must not keep it from coming through.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "client/core/accusations.h"
#include "client/core/context.h"
#include "client/core/epochs.h"
#include "client/core/holdings.h"
#include "client/core/membership.h"
#include "client/core/outbox.h"
#include "codec/random.h"
#include "proto/base/token_bucket.h"
#include "proto/messages.h"

namespace firn::core {

class Denouncing final : public LeaveWatcher {
 public:
  Denouncing(const Context& context, Membership& membership, Outbox& outbox,
             Accusations& accusations, const Epochs& epochs, const Holdings& holdings);

  // This peer has found a claim to be false.
  void denounce(proto::FalseClaim claim);
  // A neighbour hands one on. False: not even an honest relay sends that.
  bool came(const Neighbour& n, proto::FalseClaim&& claim);
  // A new Epoch has come.
  void learned(const proto::Epoch& epoch);

  void leaves(const Neighbour& n) override { allowances_.erase(n.key); }

  void step();
  TimeUs next_due() const;

 private:
  struct Case {  // against one peer
    proto::FalseClaim claim;
    PeerKey from = kNoPeer;  // kNoPeer: this peer itself
    TimeUs since = 0, due = 0;
    std::uint32_t sent = 0;  // times
    std::set<PeerKey> heard_from;
  };
  void open(const PeerId& accused, proto::FalseClaim&& claim, PeerKey from);
  void send(Case& about);
  Neighbour* next_hop(const Case& about);

  const Context& context_;
  Membership& membership_;
  Outbox& outbox_;
  Accusations& accusations_;
  const Epochs& epochs_;
  const Holdings& holdings_;
  std::map<PeerId, Case> cases_;
  std::map<PeerKey, TokenBucket> allowances_;
  codec::CoefficientStream random_;
};

}  // namespace firn::core
