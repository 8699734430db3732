#include "client/core/call_pacing.h"

#include <algorithm>

#include "client/core/policy/constants.h"
#include "proto/base/address.h"

namespace firn::core {
namespace {

constexpr std::size_t kSweepFrom = 256;  // entries; fewer are not looked through

// A call is forgotten `time` after the call before it is; `calls` may be remembered at once.
struct Bound {
  TimeUs calls, time;
};
constexpr Bound kOfNetwork{policy::kVainCalls, policy::kVainCallTime};
constexpr Bound kOfPrefix{policy::kVainCallsPrefix, policy::kVainCallTimePrefix};

TimeUs next_by(const std::map<std::string, TimeUs>& vain, const std::string& whose,
               const Bound& bound, TimeUs now) {
  const auto known = vain.find(whose);
  return known == vain.end() ? now : known->second - (bound.calls - 1) * bound.time;
}

void note(std::map<std::string, TimeUs>& vain, const std::string& whose, const Bound& bound,
          TimeUs now) {
  if (vain.size() >= kSweepFrom)
    std::erase_if(vain, [now](const auto& one) { return one.second <= now; });
  TimeUs& forgotten_at = vain.try_emplace(whose, now).first->second;
  forgotten_at = std::max(forgotten_at, now) + bound.time;
}

void take_back(std::map<std::string, TimeUs>& vain, const std::string& whose, const Bound& bound) {
  const auto known = vain.find(whose);
  if (known != vain.end()) known->second -= bound.time;
}

}  // namespace

TimeUs CallPacing::next(const std::string& host, TimeUs now) const {
  if (of_network_.empty()) return now;
  return std::max(next_by(of_network_, network_of(host), kOfNetwork, now),
                  next_by(of_prefix_, prefix_of(host), kOfPrefix, now));
}

void CallPacing::called(const std::string& host, TimeUs now) {
  note(of_network_, network_of(host), kOfNetwork, now);
  note(of_prefix_, prefix_of(host), kOfPrefix, now);
}

void CallPacing::answered(const std::string& host) {
  take_back(of_network_, network_of(host), kOfNetwork);
  take_back(of_prefix_, prefix_of(host), kOfPrefix);
}

}  // namespace firn::core
