// Swarms whose peers want parts of a content: halves, thirds, one small file of many, a late change
// of mind. The last peer is complete within 1.15 times the bound (bound.h), and groups that want as
// much of their own end together. Time is virtual.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "tests/sim/lab/bound.h"
#include "tests/sim/lab/lab_of.h"
#include "tests/sim/lab/setting.h"

using namespace firn::sim;

namespace {

// Mean of the seconds at which the peers of a group were complete, by what they want.
using Means = std::map<std::pair<double, double>, double>;

Means within(double ratio, const std::string& options) {
  CAPTURE(options);
  Arguments arguments("parts_test", "limit=4 " + options);
  const Setting setting = setting_of(arguments);
  arguments.all();
  const auto lab = lab_of(setting);
  const double bound = fluid_bound(run_of(*lab));
  CHECK(lab->run(static_cast<TimeUs>(bound * setting.limit * 1e6)));
  const LabRun run = run_of(*lab);
  double last = 0;
  std::map<std::pair<double, double>, std::pair<double, int>> groups;
  for (std::size_t i = 1; i < run.specs.size(); ++i) {
    const double at = static_cast<double>(run.results[i].completed) * 1e-6;
    last = std::max(last, at);
    auto& [sum, count] = groups[{run.specs[i].wish().from, run.specs[i].wish().to}];
    sum += at;
    ++count;
  }
  MESSAGE(options << ": " << last / bound << " of the bound");
  CHECK(last < ratio * bound);
  Means means;
  for (const auto& [part, group] : groups) means[part] = group.first / group.second;
  return means;
}

void end_together(const Means& means) {
  const auto [least, most] =
      std::ranges::minmax_element(means, {}, [](const auto& group) { return group.second; });
  CHECK(most->second < 1.05 * least->second);
}

}  // namespace

TEST_CASE("halves") {
  end_together(within(1.15, "seed=1 peers=12 wants=0-0.5,0.5-1"));
  end_together(within(1.15, "seed=2 peers=12 seed_mbit=16 wants=0-0.5,0.5-1"));
}

TEST_CASE("thirds, and generations that two of them share") {
  end_together(within(1.15, "seed=1 peers=12 mib=33 wants=0-0.3333,0.3334-0.6666,0.6667-1"));
  within(1.15, "seed=1 peers=12 wants=0-0.34,0.33-0.67,0.66-1");
  end_together(within(1.15, "seed=2 peers=24 mib=64 wants=0-0.33,0.34-0.66,0.67-1"));
}

TEST_CASE("halves that lie over one another") {
  within(1.15, "seed=1 peers=12 wants=0-0.5,0.25-0.75");
}

TEST_CASE("one small file of many") {
  within(1.15, "seed=1 peers=12 wants=0-1,0-1,0-1,0.5-0.53");
  within(1.15, "seed=1 peers=12 mib=64 wants=0-1,0-0.1");
}

TEST_CASE("a late change of mind: more, less, and something else") {
  within(1.15, "seed=1 peers=12 wants=0-0.5 later=0-1 later_s=12");
  within(1.15, "seed=1 peers=12 wants=0-1 later=0-0.5,0-1 later_s=8");
}

TEST_CASE("who wants more once it is complete finds its neighbours again") {
  const Means means = within(1.35, "seed=1 peers=12 wants=0-0.5 later=0-1 later_s=25");
  CHECK(means.begin()->second > 25);
}
