#include "client/core/call_pacing.h"

#include <algorithm>

#include "client/core/policy/constants.h"

namespace firn::core {
namespace {

constexpr std::size_t kSweepFrom = 256;  // entries; fewer are not looked through

}  // namespace

// Each call is forgotten kVainCallTime after the one before, so kVainCalls may be remembered.
TimeUs CallPacing::next(const std::string& host, TimeUs now) const {
  const auto vain = vain_.find(host);
  if (vain == vain_.end()) return now;
  return vain->second - (policy::kVainCalls - 1) * policy::kVainCallTime;
}

void CallPacing::called(const std::string& host, TimeUs now) {
  if (vain_.size() >= kSweepFrom) {
    std::erase_if(vain_, [now](const auto& one) { return one.second <= now; });
  }
  TimeUs& forgotten_at = vain_.try_emplace(host, now).first->second;
  forgotten_at = std::max(forgotten_at, now) + policy::kVainCallTime;
}

void CallPacing::answered(const std::string& host) {
  const auto vain = vain_.find(host);
  if (vain != vain_.end()) vain->second -= policy::kVainCallTime;
}

}  // namespace firn::core
