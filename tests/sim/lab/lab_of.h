// The swarm of the production core that a setting describes, for the program and for tests.
#pragma once

#include <memory>

#include "tests/sim/lab/lab.h"
#include "tests/sim/lab/setting.h"

namespace firn::sim {

inline std::unique_ptr<Lab> lab_of(const Setting& setting) {
  auto lab = std::make_unique<Lab>(setting.generations, setting.n, setting.k, setting.seed,
                                   setting.authority);
  lab->set_wire(setting.wire);
  lab->set_source_copies(setting.source_copies, setting.honest_copies);
  lab->options().neighbours_wanted = setting.neighbours;
  lab->options().mixture_rows = setting.mixture_rows;
  for (const LabPeerSpec& spec : setting.peers) lab->add(spec);
  return lab;
}

}  // namespace firn::sim
