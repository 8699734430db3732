// How often clients may ask: a bucket of requests for each name (a network, a connection).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "proto/base/token_bucket.h"
#include "tracker/registry.h"

namespace firn::tracker {

// The owner of a bucket may ask `burst` times at once, and `per_second` times a second in the long
// run.
struct Rate {
  std::uint64_t per_second = 0;
  std::uint64_t burst = 0;
};

TokenBucket full_bucket(const Rate& rate, Time now);
// Takes one token. Zero, or how long until there is one.
Time take_one(TokenBucket& bucket, Time now);
// From now on; what is saved up stays, up to the new burst.
void change_rate(TokenBucket& bucket, const Rate& rate, Time now);

// A bucket for each name (a network). At most `names_max`: full buckets are forgotten first; if all
// are in use, newcomers are told to wait. One thread.
class RateLimit {
 public:
  RateLimit(const Rate& rate, std::size_t names_max) : rate_(rate), names_max_(names_max) {}

  // Where a name's bucket was last found, for one that asks often.
  class Found {
    friend RateLimit;
    TokenBucket* bucket_ = nullptr;
    std::uint64_t tidyings_ = 0;
  };

  Time take(const std::string& name, Time now) {
    Found found;
    return take(name, found, now);
  }
  // `found`: of this name and this limit.
  Time take(const std::string& name, Found& found, Time now);
  // Another rate from now on, for the names that are known too.
  void change(const Rate& rate, Time now);
  // Forgets buckets that are full again.
  void tidy(Time now);
  std::size_t size() const { return buckets_.size(); }

 private:
  Rate rate_;
  std::size_t names_max_;
  std::unordered_map<std::string, TokenBucket> buckets_;
  Time tidied_{};
  std::uint64_t tidyings_ = 0;  // since when buckets stay where they are
};

}  // namespace firn::tracker
