// Swarms that have an origin, a web server, in place of a source: when the last peer ends and how
// many copies of the content leave the origin. Time is virtual.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/sim/lab/bound.h"
#include "tests/sim/lab/lab_of.h"
#include "tests/sim/lab/setting.h"

using namespace firn::sim;

namespace {

struct Served {
  double ratio = 0;       // the last peer's end, as a share of the bound
  double copies = 0;      // that left the origin
  double last_start = 0;  // of readers: from joining to the first second of film
  double stalled = 0;     // likewise, of all together
};

// Twelve peers that met before they know the origin.
Served served(const std::string& more) {
  const std::string options =
      "seed=1 peers=12 origin=1 origin_from_s=0.3 delay_ms=1 limit=4 " + more;
  CAPTURE(options);
  Arguments arguments("origins_test", options);
  const auto setting = setting_of(arguments);
  arguments.all();
  const auto lab = lab_of(setting);
  const double bound = fluid_bound(run_of(*lab));
  CHECK(lab->run(static_cast<TimeUs>(bound * setting.limit * 1e6)));
  const LabRun run = run_of(*lab);
  Served seen;
  seen.copies = run.results[0].bytes_sent / run.content_bytes;
  for (std::size_t i = 1; i < run.specs.size(); ++i) {
    const LabPeerResult& one = run.results[i];
    seen.ratio = std::max(seen.ratio, static_cast<double>(one.completed) * 1e-6 / bound);
    seen.last_start = std::max(seen.last_start, static_cast<double>(one.viewing.start) * 1e-6);
    seen.stalled += static_cast<double>(one.viewing.stalled) * 1e-6;
  }
  MESSAGE(options << ": " << seen.ratio << " of the bound, " << seen.copies
                  << " copies, last start " << seen.last_start << " s, stalls " << seen.stalled
                  << " s");
  CHECK(seen.copies > 0.999);
  return seen;
}

}  // namespace

TEST_CASE("little more than one copy leaves a slow origin") {
  const Served seen = served("mib=64 seed_mbit=8 up=8");
  CHECK(seen.ratio <= 1.15);
  CHECK(seen.copies <= 1.08);
}

TEST_CASE("little more than one copy leaves a quick origin") {
  const Served seen = served("mib=256 seed_mbit=100 up=100");
  CHECK(seen.ratio <= 1.17);
  CHECK(seen.copies <= 1.08);
}

TEST_CASE("peers with fast links among them end when a slow origin has given its copy") {
  const Served seen = served("mib=64 seed_mbit=8 up=100");
  CHECK(seen.ratio <= 1.05);
  CHECK(seen.copies <= 1.08);
}

TEST_CASE("an origin that dies when it has given most of a copy, and comes back, gives the rest") {
  // The bound, 67 s, knows nothing of the 20 s.
  const Served seen = served("mib=64 seed_mbit=8 up=8 origin_dies_s=40 origin_back_s=20");
  CHECK(seen.ratio <= 1.15 + 20 / 67.0);
  CHECK(seen.copies <= 1.1);
}

TEST_CASE("an origin that dies for good once it has given a copy is not missed") {
  const Served seen = served("mib=64 seed_mbit=8 up=8 origin_dies_s=70");
  CHECK(seen.ratio <= 1.15);
  CHECK(seen.copies <= 1.08);
}

TEST_CASE("readers of what comes from an origin start soon") {
  const Served seen = served("mib=64 seed_mbit=8 up=8 film_mbit=4");
  CHECK(seen.ratio <= 1.15);
  CHECK(seen.copies <= 1.08);
  CHECK(seen.last_start <= 6);
  CHECK(seen.stalled <= 2);
}
