// swarm_lab KEY=VALUE...: one run of a swarm of the production core in virtual time; its result as
// one line of JSON on stdout. scripts/swarm_lab/sim.py names scenarios and makes tables of them.
// The keys are those of setting.h, and
//
//   samples_ms=0 (interval at which the ranks held are recorded) max_peers=0 (as firn --max-peers)
//   tracker_starts_s=0 tracker_dies_s=-1 (never)
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tests/sim/lab/bound.h"
#include "tests/sim/lab/lab_of.h"
#include "tests/sim/lab/setting.h"

int main(int argc, char** argv) {
  using namespace firn::sim;
  Arguments arguments("swarm_lab", argc, argv);
  const auto began = std::chrono::steady_clock::now();
  const Setting setting = setting_of(arguments);
  const auto lab = lab_of(setting);
  lab->sample_every(static_cast<TimeUs>(arguments.number("samples_ms", "0") * 1e3));
  lab->options().neighbours_max = static_cast<std::uint32_t>(arguments.number("max_peers", "0"));
  const double dies = arguments.number("tracker_dies_s", "-1") * 1e6;
  lab->set_tracker(static_cast<TimeUs>(arguments.number("tracker_starts_s", "0") * 1e6),
                   dies < 0 ? kNever : static_cast<TimeUs>(dies));
  arguments.all();  // an unknown key is said before the run
  const double about = fluid_bound(run_of(*lab));
  const bool done = lab->run(static_cast<TimeUs>(about * setting.limit * 1e6));

  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  nlohmann::json out = report(arguments, setting, run_of(*lab), done, took.count(), lab->events());
  for (const Lab::Sample& s : lab->samples()) {
    out["samples"].push_back({s.seconds, s.mean, s.least});
  }
  std::printf("%s\n", out.dump().c_str());
  return done ? 0 : 1;
}
