// How much each reporter's word weighs when a source judges its neighbours, by reports
// (contributions.h) and null vectors (spread.h). One machine may run any number of identities, so
// those of one network weigh together as one, and so do those of one prefix if reporters come from
// three prefixes or more (kPrefixesMin).
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "client/core/neighbour/neighbour.h"

namespace firn::core {

// Fewer tell a source nothing. Double: four of twelve under fresh keys +11 % [096].
inline constexpr std::size_t kReportersMin = 3;
// Of a neighbour a source believes what this share of the reporters say at least, so that a smaller
// share that praises a friend achieves nothing. Less than a half, as honest reporters get nothing
// from a neighbour that has banned them [042]. Half: +38 %, liars decide; double: +35 % [096].
inline constexpr double kReportersShare = 0.4;
inline constexpr double kUsualShare = 0.25;  // what this part of the neighbours pass on is usual
// Reports older than this hardly count. Less: chance decides. More: old deeds count.
inline constexpr TimeUs kContributionMemory = 5 * kSecond;
inline constexpr double kWorthMin = 1.0 / 64;  // it may begin to pass something on

class Voices {
 public:
  // The present reporters. Each prefix (/24, IPv6: /48) counts once if they come from three or
  // more, else each network (IPv4 address, IPv6 /64).
  void review(const std::vector<const Neighbour*>& reporters);
  // Of one of them: at most 1.
  double weight(PeerKey reporter) const {
    const auto known = weights_.find(reporter);
    return known == weights_.end() ? 1 : known->second;
  }

 private:
  std::unordered_map<PeerKey, double> weights_;
};

// What somebody says, and how much that weighs.
struct Said {
  double value = 0;
  double weight = 1;
};
// The value that this share of them, by weight, reach at least; 0 <= share < 1. Not empty.
double reached_by(std::vector<Said>& said, double share);

}  // namespace firn::core
