#include "client/core/check_review.h"

#include <algorithm>

#include "client/core/policy/constants.h"

namespace firn::core {

void CheckReview::convicted(const PeerId& id, std::uint32_t g, const CheckStatement& by) {
  auto known = std::find_if(cases_.begin(), cases_.end(), [&](const Case& one) {
    return one.generation == g && one.statement.maker == by.maker && one.statement.key == by.key &&
           one.statement.sums == by.sums;
  });
  if (known == cases_.end()) {
    if (cases_.size() == policy::kReviewsMax) cases_.pop_front();
    known = cases_.insert(cases_.end(), Case{g, by, {}});
  }
  if (std::find(known->convicted.begin(), known->convicted.end(), id) == known->convicted.end())
    known->convicted.push_back(id);
}

void CheckReview::verified(std::uint32_t g, std::uint32_t blocks) {
  for (const Case& one : cases_) {
    if (one.generation != g) continue;
    const auto tag_bytes = static_cast<std::uint32_t>(one.statement.sums.size() / blocks);
    outbox_.push(MakeCheck{kNoPeer, g, tag_bytes, one.statement.key});
  }
}

std::optional<CheckReview::Finding> CheckReview::made(const proto::CheckReply& truth) {
  const auto found = std::find_if(cases_.begin(), cases_.end(), [&](const Case& one) {
    return one.generation == truth.generation && std::ranges::equal(one.statement.key, truth.key);
  });
  if (found == cases_.end()) return std::nullopt;
  if (truth.sums.empty() || std::ranges::equal(found->statement.sums, truth.sums)) {
    cases_.erase(found);
    return std::nullopt;
  }
  const PeerId liar = found->statement.maker;
  return Finding{liar, truth.generation, acquit(liar)};
}

std::vector<PeerId> CheckReview::acquit(const PeerId& liar) {
  std::vector<PeerId> acquitted;
  for (const Case& one : cases_) {
    if (one.statement.maker != liar) continue;
    acquitted.insert(acquitted.end(), one.convicted.begin(), one.convicted.end());
  }
  std::erase_if(cases_, [&](const Case& one) { return one.statement.maker == liar; });
  std::sort(acquitted.begin(), acquitted.end());
  acquitted.erase(std::unique(acquitted.begin(), acquitted.end()), acquitted.end());
  // Another's word stands against some of them still.
  std::erase_if(acquitted, [this](const PeerId& id) {
    return std::any_of(cases_.begin(), cases_.end(), [&](const Case& one) {
      return std::find(one.convicted.begin(), one.convicted.end(), id) != one.convicted.end();
    });
  });
  return acquitted;
}

}  // namespace firn::core
