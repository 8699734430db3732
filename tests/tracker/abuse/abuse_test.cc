// A tracker that is abused for hours, in virtual time: honest peers are served, memory is bounded.
//
// ABUSE_SEEDS=FROM:TO, ABUSE_HOURS and ABUSE_SCALE in the environment ask for more: `scripts/prove
// tracker-abuse` for days of full size.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/tracker/abuse/day.h"

namespace firn::tracker::test::abuse {
namespace {

using namespace std::chrono_literals;

struct Wanted {
  std::uint64_t from = 1, to = 3;  // the last is left out
  DayOptions day{.lasts = 4h, .scale = 0.1};
};

Wanted wanted() {
  Wanted wanted;
  if (const char* range = std::getenv("ABUSE_SEEDS")) {
    char* end = nullptr;
    wanted.from = std::strtoull(range, &end, 10);
    wanted.to = *end == ':' ? std::strtoull(end + 1, nullptr, 10) : wanted.from + 1;
  }
  if (const char* hours = std::getenv("ABUSE_HOURS"))
    wanted.day.lasts = std::chrono::hours(std::strtoull(hours, nullptr, 10));
  if (const char* scale = std::getenv("ABUSE_SCALE"))
    wanted.day.scale = std::strtod(scale, nullptr);
  return wanted;
}

TEST_CASE("honest announces succeed and memory is bounded while a tracker is abused") {
  Wanted asked = wanted();
  for (std::uint64_t seed = asked.from; seed < asked.to; ++seed) {
    CAPTURE(seed);
    asked.day.seed = seed;
    const Day day = simulate(asked.day);
    std::fputs(to_text(asked.day, day).c_str(), stdout);
    std::fflush(stdout);
    CHECK(day.honest.attempts() > 1000);
    CHECK(day.honest.rate() >= 0.999);
    CHECK(day.quiet.rate() >= 0.9999);
    // Of the answers that could name an honest peer.
    CHECK(static_cast<double>(day.honest.with_honest) >=
          0.98 * static_cast<double>(day.honest.with_others));
    CHECK(day.overfull == "");
    CHECK(day.hostile_after == 0);
    REQUIRE_FALSE(day.bytes.empty());
    CHECK(day.bytes.back() <= day.bytes.front() * 5 / 4);
    for (const Day::Line& line : day.attacks) {
      CAPTURE(line.name);
      CHECK(line.counts.calls > 0);
      CHECK(line.honest.rate_in_time() >= 0.995);
    }
  }
}

}  // namespace
}  // namespace firn::tracker::test::abuse
