#include "client/core/trust/check_review.h"

#include <algorithm>

#include "proto/base/limits.h"

namespace firn::core::trust {

constexpr std::size_t kReviewsMax = 512;  // sums that are to be found true or false

CheckReview::Case& CheckReview::case_of(std::uint32_t g, const CheckStatement& by) {
  const auto known = std::find_if(cases_.begin(), cases_.end(), [&](const Case& one) {
    return one.generation == g && one.statement.maker == by.maker && one.statement.key == by.key &&
           one.statement.sums == by.sums;
  });
  if (known != cases_.end()) return *known;
  if (cases_.size() == kReviewsMax) {
    // Of what convicted nobody the oldest gives way.
    const auto idle = std::find_if(cases_.begin(), cases_.end(),
                                   [](const Case& one) { return one.convicted.empty(); });
    cases_.erase(idle == cases_.end() ? cases_.begin() : idle);
  }
  return cases_.emplace_back(Case{g, by, {}});
}

// Of a maker that speaks for nobody the latest sums of each generation, unless earlier ones have
// convicted somebody.
void CheckReview::heard(std::uint32_t g, const CheckStatement& by) {
  std::erase_if(cases_, [&](const Case& one) {
    return one.generation == g && one.statement.maker == by.maker && !one.statement.vouched &&
           one.convicted.empty();
  });
  case_of(g, by);
}

void CheckReview::convicted(const PeerId& id, std::uint32_t g, const CheckStatement& by) {
  std::vector<PeerId>& known = case_of(g, by).convicted;
  if (known.size() < limits::kConvictedMax &&
      std::find(known.begin(), known.end(), id) == known.end())
    known.push_back(id);
}

void CheckReview::verified(std::uint32_t g, std::uint32_t blocks) {
  for (auto one = cases_.begin(); one != cases_.end(); ++one) {
    if (one->generation != g) continue;
    const bool asked = std::any_of(cases_.begin(), one, [&](const Case& earlier) {
      return earlier.generation == g && earlier.statement.key == one->statement.key;
    });
    const auto tag_bytes = static_cast<std::uint32_t>(one->statement.sums.size() / blocks);
    if (!asked) verdicts_.push_back(MakeCheck{kNoPeer, g, tag_bytes, one->statement.key});
  }
}

// Whether others that stated the same are innocent or guilty is known before a liar's word is taken
// back.
CheckReview::Findings CheckReview::made(const proto::CheckReply& truth) {
  Findings findings;
  std::vector<PeerId> liars;
  std::erase_if(cases_, [&](const Case& one) {
    if (one.generation != truth.generation || !std::ranges::equal(one.statement.key, truth.key))
      return false;
    if (truth.sums.empty()) return true;
    if (!std::ranges::equal(one.statement.sums, truth.sums)) {
      liars.push_back(one.statement.maker);
      return false;
    }
    for (const PeerId& id : one.convicted) guilty(id);
    if (one.statement.vouched) return true;
    findings.truthful.push_back(one.statement.maker);
    findings.guilty.insert(findings.guilty.end(), one.convicted.begin(), one.convicted.end());
    return true;
  });
  for (const PeerId& liar : liars) {
    const bool vouched = std::any_of(cases_.begin(), cases_.end(), [&](const Case& one) {
      return one.statement.maker == liar && one.statement.vouched;
    });
    findings.lies.push_back({liar, acquit(liar), vouched});
  }
  return findings;
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
  // Against some of them there is more: it was shown otherwise, or another's sums are still to be
  // found true or false.
  std::erase_if(acquitted, [this](const PeerId& id) {
    if (guilty_.contains(id)) return true;
    return std::any_of(cases_.begin(), cases_.end(), [&](const Case& one) {
      return std::find(one.convicted.begin(), one.convicted.end(), id) != one.convicted.end();
    });
  });
  return acquitted;
}

}  // namespace firn::core::trust
