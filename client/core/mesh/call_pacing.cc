#include "client/core/mesh/call_pacing.h"

#include <algorithm>

#include "proto/base/address.h"

namespace firn::core {

TimeUs CallPacing::Vain::next(const std::string& whose, TimeUs now) const {
  const auto known = forgotten_at.find(whose);
  return known == forgotten_at.end() ? now : known->second - (calls - 1) * time;
}

void CallPacing::Vain::note(const std::string& whose, TimeUs now) {
  constexpr std::size_t kSweepFrom = 256;  // entries; fewer are not looked through
  if (forgotten_at.size() >= kSweepFrom)
    std::erase_if(forgotten_at, [now](const auto& one) { return one.second <= now; });
  TimeUs& at = forgotten_at.try_emplace(whose, now).first->second;
  at = std::max(at, now) + time;
}

void CallPacing::Vain::take_back(const std::string& whose) {
  const auto known = forgotten_at.find(whose);
  if (known != forgotten_at.end()) known->second -= time;
}

TimeUs CallPacing::next(const std::string& host, TimeUs now) const {
  if (of_network_.forgotten_at.empty()) return now;
  return std::max(of_network_.next(network_of(host), now), of_prefix_.next(prefix_of(host), now));
}

void CallPacing::called(const std::string& host, TimeUs now) {
  of_network_.note(network_of(host), now);
  of_prefix_.note(prefix_of(host), now);
}

void CallPacing::answered(const std::string& host) {
  of_network_.take_back(network_of(host));
  of_prefix_.take_back(prefix_of(host));
}

}  // namespace firn::core
