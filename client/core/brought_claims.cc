#include "client/core/brought_claims.h"

#include "client/core/claims.h"
#include "client/core/policy/constants.h"
#include "proto/block_claim.h"

namespace firn::core {

BroughtClaims::Verdict BroughtClaims::look(const Neighbour& from, const proto::FalseClaim& claim) {
  if (!claim_possible(claim, holdings_)) return Verdict::kRefused;
  const auto allowance = allowances_.try_emplace(from.key, policy::kFalseClaimsPerSecond,
                                                 policy::kFalseClaimsAtOnce, context_.now);
  if (!allowance.first->second.try_take(1, context_.now)) return Verdict::kTooMany;
  return claim_signed(claim, context_.content_id) ? Verdict::kSigned : Verdict::kRefused;
}

}  // namespace firn::core
