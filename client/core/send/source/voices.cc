#include "client/core/send/source/voices.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "proto/base/address.h"

namespace firn::core {

// Where reporters come from so many prefixes, those of one prefix weigh together as one.
constexpr std::size_t kPrefixesMin = 3;

void Voices::review(const std::vector<const Neighbour*>& reporters) {
  std::set<std::string> prefixes;
  for (const Neighbour* n : reporters) prefixes.insert(prefix_of(n->contact.ip()));
  const bool by_prefix = prefixes.size() >= kPrefixesMin;
  std::map<std::string, std::vector<PeerKey>> places;
  for (const Neighbour* n : reporters) {
    const std::string& ip = n->contact.ip();
    places[by_prefix ? prefix_of(ip) : network_of(ip)].push_back(n->key);
  }
  weights_.clear();
  for (const auto& [place, peers] : places) {
    for (const PeerKey peer : peers) weights_[peer] = 1.0 / static_cast<double>(peers.size());
  }
}

double reached_by(std::vector<Said>& said, double share) {
  std::sort(said.begin(), said.end(),
            [](const Said& a, const Said& b) { return a.value > b.value; });
  double all = 0, above = 0;
  for (const Said& one : said) all += one.weight;
  for (const Said& one : said) {
    above += one.weight;
    if (above > share * all) return one.value;
  }
  return said.back().value;
}

}  // namespace firn::core
