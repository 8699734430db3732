#include "client/core/spread_judging.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "client/core/policy/constants.h"
#include "client/core/policy/source_policy.h"

namespace firn::core {

SpreadJudging::SpreadJudging(Membership& membership, const Spread& spread)
    : membership_(membership), spread_(spread) {}

// The word of neighbours counts that this peer has called: of these no more are hostile than of the
// swarm.
SpreadJudging::Asked SpreadJudging::ask() const {
  Asked asked;
  const Neighbours& neighbours = std::as_const(membership_).neighbours();
  for (const PeerKey key : neighbours.called()) {
    const Neighbour* n = neighbours.find(key);
    if (!n->holds.has_everything()) asked.push_back(n);
  }
  return asked;
}

double SpreadJudging::hearsay(const Neighbour& of, const Asked& asked) const {
  std::size_t others = 0, accusers = 0;
  for (const Neighbour* n : asked) {
    if (n->key == of.key) continue;
    ++others;
    accusers += n->reports.convicts(of.id.prefix());
  }
  const bool many =
      static_cast<double>(accusers) >= policy::kAccusersShare * static_cast<double>(others);
  if (accusers >= policy::kAccusersMin && many) return policy::kWorthMin;
  return accusers > 0 ? policy::kDoubtedWorth : 1;
}

double SpreadJudging::worth(const Neighbour& of, const Asked& asked, std::optional<double> share,
                            double usual_share) const {
  const double told = hearsay(of, asked);
  if (told <= policy::kWorthMin || !share || usual_share <= 0) return told;
  return policy::worth_of(*share, usual_share);
}

void SpreadJudging::greeted(Neighbour& n) const {
  n.worth = hearsay(n, ask());
}

bool SpreadJudging::review(const Voices& voices) {
  std::vector<Said> known;
  std::map<PeerKey, double> shares;
  for (const Neighbour& n : std::as_const(membership_).neighbours()) {
    if (n.holds.has_everything()) continue;
    const auto share = spread_.share(n, voices);
    if (!share) continue;
    known.push_back({*share});
    shares.emplace(n.key, *share);
  }
  // Up to three quarters of the neighbours may be sinks.
  const double usual = known.empty() ? 0 : reached_by(known, policy::kUsualShare);
  bool found = false;
  const Asked asked = ask();
  for (Neighbour& n : membership_.neighbours()) {
    const bool was_sink = n.sink();
    const auto share = shares.find(n.key);
    n.worth =
        worth(n, asked, share == shares.end() ? std::nullopt : std::optional(share->second), usual);
    found |= n.sink() && !was_sink;
  }
  return found;
}

}  // namespace firn::core
