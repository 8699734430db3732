#include "client/app/coding/claim_checker.h"

#include <utility>
#include <vector>

#include "client/app/coding/block_product.h"
#include "proto/base/digest.h"
#include "proto/base/stage_times.h"
#include "proto/block_claim.h"

namespace firn::app {

ClaimChecker::ClaimChecker(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
                           CodingOutcomes& outcomes)
    : content_(std::move(content)), tasks_(tasks), outcomes_(outcomes) {}

void ClaimChecker::check(core::CheckClaim action) {
  const std::uint32_t generation = action.claim.generation;
  tasks_.submit(content_->key_of(generation),
                [this, data = content_->cached(generation), claim = std::move(action.claim),
                 content = content_]() mutable -> WorkerPool::Completion {
                  data = content->load_unless(std::move(data), claim.generation);
                  return [this, accused = claimant_of(claim.claim),
                          wrong = is_false(*content, claim, data)] {
                    outcomes_.claim_checked(accused, wrong);
                  };
                });
}

bool ClaimChecker::is_false(const CodedContent& content, const proto::FalseClaim& claim,
                            const SharedBuffer& data) {
  if (!data) return false;
  BlockOrder order;
  order.source_index = claim.source_index;
  order.coefficients = claim.coefficients;
  const std::vector<proto::Payload> made =
      make_from_source(content, data->bytes(), std::span(&order, 1));
  const StageScope stage(Stage::kProof);
  if (sha256(made.front().bytes()) == claim.claim.payload) return false;
  // All peers part with a convicted one, so a file that was changed must not convict it.
  const Digest& digest = content.store().manifest().info.generation_digests[claim.generation];
  return generation_digest(data->bytes(), content.shape().block_bytes) == digest;
}

}  // namespace firn::app
