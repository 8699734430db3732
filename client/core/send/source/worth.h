// By what a source weighs its neighbours, from reports (contributions.h) and null vectors
// (spread.h).
#pragma once

#include <cstddef>

#include "client/core/base/types.h"

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

}  // namespace firn::core
