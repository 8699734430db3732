#include "client/core/convictions.h"

#include <algorithm>
#include <utility>

#include "client/core/policy/constants.h"
#include "proto/block_claim.h"

namespace firn::core {

Convictions::Convictions(const Context& context, Membership& membership, Outbox& outbox,
                         const Holdings& holdings)
    : context_(context),
      membership_(membership),
      outbox_(outbox),
      holdings_(holdings),
      brought_(context, holdings) {}

// Each costs the combination of a generation's source blocks. One that does not come to it is sent
// again, if its sender is honest.
bool Convictions::examine(const Neighbour& n, proto::FalseClaim&& claim) {
  const BroughtClaims::Verdict verdict = brought_.look(n, claim);
  if (verdict != BroughtClaims::Verdict::kSigned)
    return verdict == BroughtClaims::Verdict::kTooMany;
  const PeerId accused = claimant_of(claim.claim);
  if (membership_.condemned().contains(accused, context_.now)) {
    sentence(accused, 1);  // somebody has not heard of it
    return true;
  }
  if (under_way_.contains(accused) || under_way_.size() == policy::kClaimChecksMax ||
      !holdings_.verified().contains(claim.generation))
    return true;
  under_way_.insert(accused);
  outbox_.push(CheckClaim{std::move(claim)});
  return true;
}

void Convictions::checked(const ClaimVerdict& verdict) {
  if (under_way_.erase(verdict.accused) == 0 || !verdict.is_false) return;
  membership_.condemn(verdict.accused, context_.options.self);
  sentence(verdict.accused, policy::kSentenceEpochs);
}

// Where more wait than can be named, newcomers give way: their identities may be made up for that.
void Convictions::sentence(const PeerId& id, std::uint32_t epochs) {
  const bool waits =
      std::any_of(told_.begin(), told_.end(), [&](const Sentence& one) { return one.id == id; });
  if (!waits && told_.size() < policy::kSentencesMax) told_.push_back({id, epochs});
}

std::vector<PeerId> Convictions::take_told(std::size_t most) {
  std::vector<PeerId> named;
  for (std::size_t n = std::min(told_.size(), most); n > 0; --n) {
    Sentence sentence = told_.front();
    told_.pop_front();
    named.push_back(sentence.id);
    if (--sentence.left > 0) told_.push_back(sentence);
  }
  return named;
}

}  // namespace firn::core
