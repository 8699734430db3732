// The authority's judgement of false claims (denouncing.h). It has the source blocks: what the
// claim's coding vector makes of them has another hash than the claim says, or the claim is true.
// So it needs nobody's word. Peers that are found guilty are named in a few Epochs, as some peers
// miss one, and again when a claim about one comes later.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "client/core/brought_claims.h"
#include "client/core/context.h"
#include "client/core/holdings.h"
#include "client/core/membership.h"
#include "client/core/outbox.h"
#include "proto/messages.h"

namespace firn::core {

class Convictions final : public LeaveWatcher {
 public:
  Convictions(const Context& context, Membership& membership, Outbox& outbox,
              const Holdings& holdings);

  // A neighbour brings a claim. False: not even an honest relay sends that.
  bool examine(const Neighbour& n, proto::FalseClaim&& claim);
  // The answer to CheckClaim.
  void checked(const ClaimVerdict& verdict);
  // Those that the next Epoch is to name, `most` at most.
  std::vector<PeerId> take_told(std::size_t most);

  void leaves(const Neighbour& n) override { brought_.leaves(n.key); }

 private:
  struct Sentence {
    PeerId id;
    std::uint32_t left = 0;  // Epochs that are to name it
  };

  void sentence(const PeerId& id, std::uint32_t epochs);

  const Context& context_;
  Membership& membership_;
  Outbox& outbox_;
  const Holdings& holdings_;
  std::set<PeerId> under_way_;
  std::deque<Sentence> told_;
  BroughtClaims brought_;
};

}  // namespace firn::core
