// Rates of contents over the last minutes.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "client/app/page/status_source.h"

namespace firn::app {

class RateHistory {
 public:
  static constexpr std::size_t kSamplesMax = 300;
  static constexpr std::size_t kContentsMax = 512;  // further ones have no history
  static constexpr int kSecondsBetween = 2;

  struct Sample {
    double down = 0;
    double up = 0;
  };
  using Samples = std::deque<Sample>;  // oldest first

  // To be called every kSecondsBetween. Contents that are not among them any more are forgotten, as
  // are those that have not moved for as long as samples are kept.
  void add(const std::vector<ContentRate>& rates);
  // Empty: nothing has moved.
  const Samples& of(const std::string& content_id) const;
  const Samples& all() const { return all_; }

 private:
  Samples all_;
  std::map<std::string, Samples> contents_;
};

}  // namespace firn::app
