// Hours of abuse of one tracker: a crowd of honest peers, and attacks of all kinds, which begin one
// after the other in each two hours, in an order of the seed's; several last at the same time.
// After the hours follows one without attacks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/tracker/abuse/attack.h"
#include "tests/tracker/abuse/crowd.h"
#include "tests/tracker/abuse/host.h"

namespace firn::tracker::test::abuse {

struct DayOptions {
  std::uint64_t seed = 1;
  Time lasts = std::chrono::hours(24);
  double scale = 1;  // of the crowd, the attacks, and the bounds of the tracker
};

struct Day {
  // What came of one kind of attack, and of honest peers while it lasted.
  struct Line {
    std::string name;
    AttackCounts counts;
    Honesty honest;
    std::size_t bytes_most = 0;  // of the tracker's memory, as sampled each minute
  };
  std::vector<Line> attacks;
  Honesty honest, neighbours, quiet;  // `quiet`: in the hour after
  ManifestService manifests;
  // At the end of each two hours, and an hour after the attacks.
  std::vector<std::size_t> bytes;
  std::size_t bytes_after = 0, bytes_most = 0;
  Host::Fill most;                // of each table by itself
  std::string overfull;           // which was fuller than it may be; empty: none
  std::size_t hostile_after = 0;  // attackers' peers an hour after
  Host::Fill after;
  std::uint64_t strained_steps = 0, steps = 0;
};

Day simulate(const DayOptions& options);
std::string to_text(const DayOptions& options, const Day& day);

}  // namespace firn::tracker::test::abuse
