#include "tracker/rate_limit.h"

#include <chrono>

namespace firn::tracker {

namespace {

TokenBucket::Micros micros(Time time) {
  return std::chrono::microseconds(time).count();
}

}  // namespace

TokenBucket full_bucket(const Rate& rate, Time now) {
  return {rate.per_second, rate.burst, micros(now)};
}

Time take_one(TokenBucket& bucket, Time now) {
  const std::chrono::microseconds wait(bucket.wait_for(1, micros(now)));
  if (wait.count() == 0) bucket.take(1);
  return std::chrono::ceil<Time>(wait);
}

void change_rate(TokenBucket& bucket, const Rate& rate, Time now) {
  bucket.set_rate(rate.per_second, rate.burst, micros(now));
}

Time RateLimit::take(const std::string& name, Found& found, Time now) {
  if (found.bucket_ != nullptr && found.tidyings_ == tidyings_)
    return take_one(*found.bucket_, now);
  auto named = buckets_.find(name);
  if (named == buckets_.end()) {
    // Not with every newcomer: going through all of them is work.
    if (buckets_.size() >= names_max_ && now - tidied_ >= std::chrono::seconds(1)) tidy(now);
    if (buckets_.size() >= names_max_) return std::chrono::seconds(1);
    named = buckets_.emplace(name, full_bucket(rate_, now)).first;
  }
  found.bucket_ = &named->second;
  found.tidyings_ = tidyings_;
  return take_one(named->second, now);
}

void RateLimit::change(const Rate& rate, Time now) {
  rate_ = rate;
  for (auto& [name, bucket] : buckets_) change_rate(bucket, rate, now);
}

void RateLimit::tidy(Time now) {
  tidied_ = now;
  const auto erased =
      std::erase_if(buckets_, [&](const auto& named) { return named.second.full(micros(now)); });
  if (erased > 0) ++tidyings_;
}

}  // namespace firn::tracker
