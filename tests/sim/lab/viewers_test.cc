// Swarms whose users watch a film while it comes: how long they wait for its start and after a
// seek, how long it stands still, and what that costs the last peer. Time is virtual.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/sim/lab/bound.h"
#include "tests/sim/lab/lab_of.h"
#include "tests/sim/lab/setting.h"

using namespace firn::sim;

namespace {

// What the viewers of a run saw, in seconds. -1: some never did.
struct Watched {
  double last_start = -1;
  double stalled = 0;  // of all together
  double seek = -1;    // of the one that seeks
  double ratio = 0;    // the last peer's end, as a share of the bound
};

// Twelve viewers; of their film 8 Mbit/s come at most.
Watched watched(const std::string& film,
                const std::string& swarm = "peers=12 mib=96 seed_mbit=8 up=8") {
  const std::string options = "seed=1 " + swarm + " " + film;
  CAPTURE(options);
  Arguments arguments("viewers_test", options);
  const auto setting = setting_of(arguments);
  arguments.all();
  const auto lab = lab_of(setting);
  const double bound = fluid_bound(run_of(*lab));
  const bool done = lab->run(static_cast<TimeUs>(bound * setting.limit * 1e6));
  CHECK(done == (setting.limit >= 1));  // a short run ends before
  const LabRun run = run_of(*lab);
  Watched seen;
  bool all_started = true;
  double last = 0;
  for (std::size_t i = 1; i < run.specs.size(); ++i) {
    const LabViewing& one = run.results[i].viewing;
    all_started &= one.start >= 0;
    seen.last_start = std::max(seen.last_start, static_cast<double>(one.start) * 1e-6);
    seen.stalled += static_cast<double>(one.stalled) * 1e-6;
    if (one.seek >= 0) seen.seek = static_cast<double>(one.seek) * 1e-6;
    last = std::max(last, static_cast<double>(run.results[i].completed) * 1e-6);
  }
  CHECK(all_started);
  seen.ratio = last / bound;
  MESSAGE(options << ": last start " << seen.last_start << " s, stalls " << seen.stalled
                  << " s, seek " << seen.seek << " s, " << seen.ratio << " of the bound");
  return seen;
}

}  // namespace

TEST_CASE("a film that comes little faster than it plays starts soon and hardly stalls") {
  const Watched seen = watched("limit=4 film_mbit=6.8");
  CHECK(seen.last_start <= 2.5);
  CHECK(seen.stalled <= 3);
  CHECK(seen.ratio <= 1.12);
}

TEST_CASE("half of the viewers begin in the middle of a film") {
  const Watched seen = watched("limit=4 film_mbit=3.4 film_from=0,0.5");
  CHECK(seen.last_start <= 3.5);
  CHECK(seen.stalled <= 6);
  CHECK(seen.ratio <= 1.12);
}

TEST_CASE("a viewer that jumps ahead of all others waits shortly") {
  const Watched seen = watched("limit=0.5 film_mbit=6.8 seek_peer=5 seek_s=30 seek_to=0.698");
  CHECK(seen.seek >= 0);
  CHECK(seen.seek <= 2);
}

TEST_CASE("viewers who come one after another start as soon") {
  const Watched seen = watched("limit=4 film_mbit=5 join_ms=5000");
  CHECK(seen.last_start <= 2.5);
  CHECK(seen.stalled <= 6);
  CHECK(seen.ratio <= 1.15);
}

TEST_CASE("a viewer who comes when the last one has left with rows does not wait for them") {
  const Watched seen = watched("limit=4 film_mbit=1 crash_share=1 crash_s=10 join_ms=12000",
                               "peers=2 mib=42 seed_mbit=2.4");
  CHECK(seen.last_start <= 6);
}
