#include "client/app/session/given_sources.h"

#include <algorithm>

namespace firn::app {
namespace {

std::string tracker_at(const Address& address) {
  return "tracker " + to_text(address);
}
std::string peer_at(const Address& address) {
  return "peer " + to_text(address);
}

}  // namespace

GivenSources::GivenSources(const core::Options& options, LifeEvents& life) : life_(life) {
  for (const Address& address : options.trackers) wrong_[tracker_at(address)] = false;
  for (const Address& address : options.peers) wrong_[peer_at(address)] = false;
}

void GivenSources::tracker_heard(const Address& given, bool wrong_identity) {
  heard(tracker_at(given), wrong_identity);
}

void GivenSources::peer_heard(const Address& given, bool wrong_identity) {
  heard(peer_at(given), wrong_identity);
}

void GivenSources::heard(const std::string& source, bool wrong_identity) {
  const auto found = wrong_.find(source);
  if (found == wrong_.end()) return;
  found->second = wrong_identity;
  const bool all_wrong =
      std::all_of(wrong_.begin(), wrong_.end(), [](const auto& entry) { return entry.second; });
  if (all_wrong) life_.all_sources_wrong(source);
}

}  // namespace firn::app
