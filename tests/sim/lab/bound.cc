#include "tests/sim/lab/bound.h"

#include <algorithm>
#include <vector>

#include "tests/sim/lab/run.h"

namespace firn::sim {

namespace {

struct Change {
  double at = 0;
  double up = 0;      // bytes a second that come or go
  double peers = 0;   // downloaders that come or go
  double source = 0;  // of `up`: of the source
};

// What the parts cover together.
double union_of(std::vector<LabPart> parts) {
  std::sort(parts.begin(), parts.end(),
            [](const LabPart& a, const LabPart& b) { return a.from < b.from; });
  double covered = 0, end = 0;
  for (const LabPart& part : parts) {
    covered += std::max(part.to - std::max(part.from, end), 0.0);
    end = std::max(end, part.to);
  }
  return covered;
}

double bound_of_parts(const LabRun& run) {
  std::vector<LabPart> parts;
  double up = 0, source = 0, wanted = 0, slowest_down = 0;
  for (const LabPeerSpec& spec : run.specs) {
    up += spec.link.up;
    if (spec.source) {
      source += spec.link.up;
      continue;
    }
    parts.push_back(spec.wish());
    const double bytes = run.content_bytes * spec.wish().size();
    wanted += bytes;
    if (spec.link.down > 0) slowest_down = std::max(slowest_down, bytes / spec.link.down);
  }
  return std::max({run.content_bytes * union_of(parts) / source, slowest_down, wanted / up});
}

}  // namespace

// Equal shares: every peer in the swarm receives sum(up) / peers. Late comers are behind, and how a
// fluid would best catch up is not worth a program: with them the bound is that of all work,
// counted from when each peer was there.
double fluid_bound(const LabRun& run) {
  if (std::any_of(run.specs.begin(), run.specs.end(),
                  [](const LabPeerSpec& spec) { return spec.wish().size() < 1; }))
    return bound_of_parts(run);
  const double content = run.content_bytes;
  std::vector<Change> changes;
  double slowest_down = 0, last_join = 0;
  for (std::size_t i = 0; i < run.specs.size(); ++i) {
    const LabPeerSpec& spec = run.specs[i];
    const LabPeerResult& r = run.results[i];
    const double joins = static_cast<double>(spec.joins) * 1e-6;
    const double up = spec.takes_only ? 0 : spec.link.up;
    const double peers = spec.source ? 0 : 1;
    changes.push_back({joins, up, peers, spec.source ? up : 0});
    if (!spec.source) last_join = std::max(last_join, joins);
    if (r.gone >= 0) {
      // A peer that left complete has had its share; one that crashed takes what it had with it.
      const double lost = r.completed >= 0 ? 0 : -peers;
      changes.push_back({static_cast<double>(r.gone) * 1e-6, -up, lost, spec.source ? -up : 0});
    }
    if (spec.link.down > 0 && !spec.source) {
      slowest_down = std::max(slowest_down, joins + content / spec.link.down);
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.at < b.at; });
  double at = 0, up = 0, source = 0, peers = 0;
  double wanted = 0;       // bytes that the peers present still lack
  double from_source = 0;  // bytes that the source could have sent
  for (std::size_t i = 0; i <= changes.size(); ++i) {
    const double until = i < changes.size() ? changes[i].at : 1e18;
    const bool all_there = at >= last_join;
    if (wanted > 0 && up > 0 && wanted <= up * (until - at) && all_there) {
      // Not before the source could have sent one copy.
      const double left = std::max(content - from_source, 0.0);
      const double first_copy = left > 0 && source > 0 ? at + left / source : 0;
      return std::max({at + wanted / up, first_copy, slowest_down});
    }
    const double span = until - at;
    const double gone = std::min(up * span, wanted);
    from_source += source * span;
    wanted -= gone;
    if (i == changes.size()) break;
    at = until;
    const Change& change = changes[i];
    if (change.peers > 0) wanted += content * change.peers;
    if (change.peers < 0 && peers > 0) wanted -= wanted / peers;
    up += change.up;
    source += change.source;
    peers += change.peers;
  }
  return std::max({at, slowest_down, last_join});
}

}  // namespace firn::sim
