// False claims (claims.h) on their way to the authority, and its word on their way back. A claim
// goes to the neighbour that speaks for the authority, or to the one from which Epochs come first,
// and so on. The finder sends it to another neighbour where no Epoch
// names the accused soon, as the first may keep it back. The Epochs name those that the authority
// has found guilty (convictions.h): every peer parts with them, whether it has met them or not.
//
// Relays cannot tell whether a claim is false. So they hand on few in a second, and few about each
// peer: true claims, which liars may send instead, cost little and must not keep others back.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>

#include "client/core/accusations.h"
#include "client/core/brought_claims.h"
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

  // This peer has found the claim to be false. Of no use to others if its signature is.
  void denounce(proto::FalseClaim claim);
  // A neighbour hands one on. False: not even an honest relay sends that.
  bool came(const Neighbour& n, const proto::FalseClaim& claim);
  // A new Epoch has come.
  void learned(const proto::Epoch& epoch);

  void leaves(const Neighbour& n) override { brought_.leaves(n.key); }

  void step();
  TimeUs next_due() const;

 private:
  struct Finding {  // of this peer, about one other
    proto::FalseClaim claim;
    TimeUs since = 0, due = 0;
    PeerKey last = kNoPeer;  // it went to
  };
  struct HandedOn {
    Digest hash;
    PeerId accused;
    PeerKey from = kNoPeer;
    TimeUs at = 0;
  };
  bool new_enough(const Digest& hash, const PeerId& accused, PeerKey from);
  Neighbour* towards_authority(const PeerId& accused, PeerKey from);
  Neighbour* any_other(const PeerId& accused, PeerKey last);
  void send(const PeerId& accused, Finding& finding);

  const Context& context_;
  Membership& membership_;
  Outbox& outbox_;
  Accusations& accusations_;
  const Epochs& epochs_;
  std::map<PeerId, Finding> findings_;
  BroughtClaims brought_;
  TokenBucket onward_;
  std::deque<HandedOn> handed_on_;  // of the last seconds, the oldest first
  codec::CoefficientStream random_;
};

}  // namespace firn::core
