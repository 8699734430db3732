// Races that last much longer without one of the core's mechanisms: whoever loses one of those that
// are named here, or what it achieves, fails a test. Time is virtual, so a bound says nothing about
// the machine.
//
// A test's comment has the seconds of the last honest peer, now and without each mechanism. The
// bound is at least 8 % above what six other seeds come to. A change that costs more here and is
// worth it moves the bound: `scripts/swarm worth` compares two builds in all cells, with any seeds
// (docs/experiments.md).
#include <doctest/doctest.h>

#include <string>

#include "tests/sim/lab/bound.h"
#include "tests/sim/lab/lab_of.h"
#include "tests/sim/lab/setting.h"

using namespace firn::sim;

namespace {

// `options` are those of swarm_lab. The last honest peer is complete within `bound` seconds, and no
// honest peer is banned by another.
void race_is_over_within(double bound, const std::string& options) {
  CAPTURE(options);
  Arguments arguments("worth_test", "limit=8 " + options);
  const auto setting = setting_of(arguments);
  arguments.all();  // an unknown key ends the program
  const auto lab = lab_of(setting);
  const double most = fluid_bound(run_of(*lab)) * setting.limit;
  const bool done = lab->run(static_cast<TimeUs>(most * 1e6));
  const auto result = report(arguments, setting, run_of(*lab), done, 0, 0)["result"];
  const double last = result["last_seconds"];
  MESSAGE(last << " s, at most " << bound);
  CHECK(done);
  CHECK(last < bound);
  CHECK(result["honest_banned"] == 0);
}

}  // namespace

// With eight of twelve hostile a source's six waiting blocks are more than the honest peers [097]:
// now 23.5 s, with four 15.9.
TEST_CASE("contributions, debt, usefulness: four honest peers of twelve still finish") {
  race_is_over_within(26, "seed=1 peers=12 seed_mbit=16 mib=16 hostile=5*replay,3*silent+fresh:10");
}

// Now 16.8 s. Without usefulness 23.8, debt 22.2, contributions 30.1. Bound 20.
TEST_CASE("contributions, debt, usefulness: rows go to peers that pass new ones on") {
  race_is_over_within(20, "seed=1 peers=12 seed_mbit=16 mib=16 hostile=4*replay,3*silent+fresh:10");
}

// Now 19.8 s. Without predecessors 22.0, the newcomers' share 26.3, the authority's sums 36.5.
// Bound 21.7.
TEST_CASE("newcomers' share, predecessors, the authority's sums: fresh names buy nothing") {
  race_is_over_within(21.7, "seed=1 peers=12 mib=16 hostile=6*noise+fresh:10");
}

// Now 18.0 s. Without mistrust 24.9, review 28.5, peers' sums 36.3, believing them 44.6. Bound 21.
TEST_CASE("peers' check sums, their review, mistrust: polluters without an authority") {
  race_is_over_within(21,
                      "seed=1 peers=12 seed_mbit=16 mib=16 authority=0 hostile=6*noise+colluding");
}

// Now 27.3 s. Without contributions 33.9, without the cap of reports by rank 92.7. Bound 31.
TEST_CASE("reporters' ranks: silent peers that praise one another get no more of a source") {
  race_is_over_within(31, "seed=1 peers=12 up=2,4,8,18 mib=16 hostile=6*reports+silent");
}

// Now 20.2 s. Without uplink claims 25.3, late binding 27.8. Bound 22.4.
TEST_CASE("late binding, uplink claims: unequal uplinks are all busy") {
  race_is_over_within(22.4, "seed=1 peers=12 up=1,2,4,30 mib=16");
}

// Now 74.4 s. Without uplink claims 83.5, gaps 106, late binding 164. Bound 83.
TEST_CASE("gaps: a source sends early what only silent peers were given") {
  race_is_over_within(83, "seed=4 peers=12 up=2,4,8,18 mib=64 hostile=6*silent");
}

// Now 6.1 s. Without turns 8.0. Bound 6.9.
TEST_CASE("quota turns: the last missing rows of a generation come from whoever is free") {
  race_is_over_within(6.9, "seed=1 peers=6 seed_mbit=100 up=100 mib=64");
}

// Now 15.2 s. Without plain passes 18.9, plain mode 32.9. Bound 17.5.
TEST_CASE("plain mode, plain passes: polluters in a large mesh whose authority is away") {
  race_is_over_within(17.5, "seed=101 peers=40 mib=8 authority=-1 hostile=4*byte");
}

// Now 23.7 s. Without takers last 30.7, null vectors 32.7. Bound 27.5.
TEST_CASE("null vectors, takers last: a source of a large mesh passes over silent peers") {
  race_is_over_within(27.5, "seed=1 peers=40 mib=16 hostile=16*silent");
}

// Now 15.2 s. Without hearsay 25.6, plain mode 39.1. Bound 18.
TEST_CASE("hearsay, plain mode: a source of a large mesh passes over peers that others ban") {
  race_is_over_within(18, "seed=101 peers=100 mib=8 hostile=30*byte");
}
