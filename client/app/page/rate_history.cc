#include "client/app/page/rate_history.h"

#include <algorithm>
#include <set>

namespace firn::app {
namespace {

void keep(RateHistory::Samples& samples, const RateHistory::Sample& sample) {
  samples.push_back(sample);
  if (samples.size() > RateHistory::kSamplesMax) samples.pop_front();
}

bool still(const RateHistory::Sample& sample) {
  return sample.down <= 0 && sample.up <= 0;
}

}  // namespace

void RateHistory::add(const std::vector<ContentRate>& rates) {
  Sample sum;
  std::set<std::string> seen;
  for (const ContentRate& rate : rates) {
    const Sample sample{rate.down, rate.up};
    sum.down += rate.down;
    sum.up += rate.up;
    seen.insert(rate.content_id);
    const auto known = contents_.find(rate.content_id);
    if (known != contents_.end()) {
      keep(known->second, sample);
    } else if (!still(sample) && contents_.size() < kContentsMax) {
      keep(contents_[rate.content_id], sample);
    }
  }
  keep(all_, sum);
  std::erase_if(contents_, [&](const auto& content) {
    return !seen.contains(content.first) || std::ranges::all_of(content.second, still);
  });
}

const RateHistory::Samples& RateHistory::of(const std::string& content_id) const {
  static const Samples kNone;
  const auto found = contents_.find(content_id);
  return found == contents_.end() ? kNone : found->second;
}

}  // namespace firn::app
