// Claims of neighbours about their blocks (proto/block_claim.h). A peer asks for them while it
// takes only answered blocks in a large mesh, checks them as they come, and keeps them until their
// rows are proven. The claim about a row that turns out to be false convicts its sender before the
// authority, and so before all peers at once (denouncing.h).
//
// Each claim's hash is compared with the payload. Checking a signature takes longer than anything
// else that is done with a small block, so only the first of a neighbour are all checked, and some
// of the others, which it cannot tell. A neighbour whose claim about a false block is badly signed
// is convicted before this peer alone, like one that claims nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "client/core/context.h"
#include "client/core/holdings.h"
#include "client/core/membership.h"
#include "client/core/trust.h"
#include "codec/random.h"
#include "proto/messages.h"

namespace firn::core {

class Claims final : public LeaveWatcher {
 public:
  Claims(const Context& context, const Trust& trust, const Holdings& holdings);

  enum class Verdict {
    kFine,
    kMissing,  // the block is not to be taken
    kFalse,    // not even an honest relay sends that
  };
  // Of a block that its sender answers for, which does not prove itself.
  Verdict look(const Neighbour& n, const proto::Block& block);
  // The block has become the row in this slot.
  void keep(std::uint32_t g, std::uint32_t slot, const proto::BlockClaim& claim);
  // What the sender of this row has claimed of it; nullopt if nothing.
  std::optional<proto::FalseClaim> about(std::uint32_t g, std::uint32_t slot) const;

  // The rows have been proven, or are gone.
  void forget(std::uint32_t g) { kept_.erase(g); }
  void forget(std::uint32_t g, const std::vector<std::uint32_t>& slots);

  void leaves(const Neighbour& n) override { looked_at_.erase(n.key); }

 private:
  bool checks_signature(const Neighbour& n);

  const Context& context_;
  const Trust& trust_;
  const Holdings& holdings_;
  std::map<std::uint32_t, std::map<std::uint32_t, proto::BlockClaim>> kept_;  // by generation, slot
  std::map<PeerKey, std::uint32_t> looked_at_;                                // claims
  codec::CoefficientStream random_;
};

// Whether the claim could be about a block of this content.
bool claim_possible(const proto::FalseClaim& claim, const Holdings& holdings);

}  // namespace firn::core
