#include "client/core/claims.h"

#include "client/core/policy/constants.h"
#include "proto/block_claim.h"

namespace firn::core {

Claims::Claims(const Context& context, const Trust& trust, const Holdings& holdings)
    : context_(context),
      trust_(trust),
      holdings_(holdings),
      random_(context.options.seed, 0x636c61696d) {}

// Blocks that were on their way when this peer began to ask have none.
Claims::Verdict Claims::look(const Neighbour& n, const proto::Block& block) {
  const TimeUs since = trust_.claims_wanted_since();
  if (since == kNever) return Verdict::kFine;
  if (!block.claim)
    return context_.now - since < policy::kClaimGrace ? Verdict::kFine : Verdict::kMissing;
  if (claimant_of(*block.claim) != n.id || !claim_names_payload(block)) return Verdict::kFalse;
  if (!checks_signature(n)) return Verdict::kFine;
  return claim_signed(block, context_.content_id) ? Verdict::kFine : Verdict::kFalse;
}

bool Claims::checks_signature(const Neighbour& n) {
  std::uint32_t& count = looked_at_[n.key];
  if (count < policy::kClaimsChecked) return ++count, true;
  return random_.below(policy::kClaimsPerSample) == 0;
}

void Claims::keep(std::uint32_t g, std::uint32_t slot, const proto::BlockClaim& claim) {
  if (trust_.claims_wanted_since() != kNever) kept_[g].insert_or_assign(slot, claim);
}

std::optional<proto::FalseClaim> Claims::about(std::uint32_t g, std::uint32_t slot) const {
  const OpenGeneration* open = holdings_.find_open(g);
  const auto kept = kept_.find(g);
  if (!open || kept == kept_.end()) return std::nullopt;
  const auto claim = kept->second.find(slot);
  if (claim == kept->second.end()) return std::nullopt;
  proto::FalseClaim found{g, {}, {}, claim->second};
  if (open->source_block[slot] != kCoded) {
    found.source_index = open->source_block[slot];
  } else {
    found.coefficients = *open->vectors[slot];
  }
  return found;
}

void Claims::forget(std::uint32_t g, const std::vector<std::uint32_t>& slots) {
  const auto kept = kept_.find(g);
  if (kept == kept_.end()) return;
  for (const std::uint32_t slot : slots) kept->second.erase(slot);
  if (kept->second.empty()) kept_.erase(kept);
}

bool claim_possible(const proto::FalseClaim& claim, const Holdings& holdings) {
  if (claim.generation >= holdings.generation_count()) return false;
  const std::uint32_t blocks = holdings.blocks_in(claim.generation);
  return claim.source_index ? *claim.source_index < blocks : claim.coefficients.size() == blocks;
}

}  // namespace firn::core
