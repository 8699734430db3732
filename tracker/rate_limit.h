// Token buckets: the owner of one may act `burst` times at once, and `per_second` times a second in
// the long run.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "tracker/registry.h"

namespace firn::tracker {

struct Rate {
  double per_second = 0;
  double burst = 0;
};

class TokenBucket {
 public:
  TokenBucket() = default;
  TokenBucket(const Rate& rate, Time now) : tokens_(rate.burst), filled_(now) {}

  // Takes one token. Zero, or how long until there is one.
  Time take(const Rate& rate, Time now);
  bool is_full(const Rate& rate, Time now) const { return tokens_at(rate, now) >= rate.burst; }

 private:
  double tokens_at(const Rate& rate, Time now) const;

  double tokens_ = 0;
  Time filled_{};
};

// A bucket for each name (a network). At most `names_max`: full buckets are forgotten first; if all
// are in use, newcomers are told to wait. One thread.
class RateLimit {
 public:
  RateLimit(const Rate& rate, std::size_t names_max) : rate_(rate), names_max_(names_max) {}

  Time take(const std::string& name, Time now);
  // Forgets buckets that are full again.
  void tidy(Time now);

 private:
  Rate rate_;
  std::size_t names_max_;
  std::unordered_map<std::string, TokenBucket> buckets_;
  Time tidied_{};
};

}  // namespace firn::tracker
