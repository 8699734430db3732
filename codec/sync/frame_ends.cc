#include "codec/sync/frame_ends.h"

#include <cassert>

namespace firn::codec::sync {
namespace {

// The states of the boundary that stands at `position` of the record where its drift is 0.
bool set_boundary(std::vector<double>& states, std::span<const double> prior, int certain_drift,
                  const DriftRange& frame, std::ptrdiff_t position, std::ptrdiff_t record_bits) {
  states.assign(static_cast<std::size_t>(frame.size()), 0);
  assert(prior.empty() || prior.size() == states.size());
  double sum = 0;
  for (int m = frame.low; m <= frame.high; ++m) {
    if (position + m < 0 || position + m > record_bits) continue;
    const auto s = static_cast<std::size_t>(m - frame.low);
    states[s] = prior.empty() ? (m == certain_drift ? 1 : 0) : prior[s];
    assert(states[s] >= 0);
    sum += states[s];
  }
  if (!(sum > 0)) return false;
  for (double& state : states) state /= sum;
  return true;
}

}  // namespace

bool FrameEnds::set(const FrameProblem& problem, const TvbCode& code, const DriftRange& frame) {
  const auto record_bits = static_cast<std::ptrdiff_t>(problem.received.size());
  const std::ptrdiff_t last = problem.origin + static_cast<std::ptrdiff_t>(code.frame_bits());
  const std::ptrdiff_t drift = record_bits - last;
  end_is_known = problem.end_prior.empty();
  if (end_is_known && (drift < frame.low || drift > frame.high)) return false;
  end_drift = end_is_known ? static_cast<int>(drift) : 0;
  return set_boundary(start, problem.start_prior, 0, frame, problem.origin, record_bits) &&
         set_boundary(end, problem.end_prior, end_drift, frame, last, record_bits);
}

}  // namespace firn::codec::sync
