#include "tracker/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace firn::tracker {

double TokenBucket::tokens_at(const Rate& rate, Time now) const {
  const double seconds = std::chrono::duration<double>(now - filled_).count();
  return std::min(rate.burst, tokens_ + seconds * rate.per_second);
}

Time TokenBucket::take(const Rate& rate, Time now) {
  tokens_ = tokens_at(rate, now);
  filled_ = now;
  if (tokens_ >= 1) {
    tokens_ -= 1;
    return Time::zero();
  }
  return Time(static_cast<Time::rep>(std::ceil((1 - tokens_) / rate.per_second * 1000)));
}

Time RateLimit::take(const std::string& name, Time now) {
  auto found = buckets_.find(name);
  if (found == buckets_.end()) {
    // Not with every newcomer: going through all of them is work.
    if (buckets_.size() >= names_max_ && now - tidied_ >= std::chrono::seconds(1)) tidy(now);
    if (buckets_.size() >= names_max_) return std::chrono::seconds(1);
    found = buckets_.try_emplace(name, rate_, now).first;
  }
  return found->second.take(rate_, now);
}

void RateLimit::tidy(Time now) {
  tidied_ = now;
  std::erase_if(buckets_, [&](const auto& named) { return named.second.is_full(rate_, now); });
}

}  // namespace firn::tracker
