// What was found out about each neighbour, and the Regard that follows from it (Neighbour::regard).
#pragma once

#include <map>

#include "client/core/trust/verdicts.h"
#include "client/core/trust/world.h"

namespace firn::core::trust {

class Regards {
 public:
  Regards(const World& world, Verdicts& verdicts) : world_(world), verdicts_(verdicts) {}

  struct Facts {
    bool speaks = false;  // for the content's authority
    bool proven = false;  // a row of it was shown to be true
    // By the word of peers that may lie it sends false rows now, or has sent some lately
    // (mistrust.h).
    bool mistrusted = false, was_mistrusted = false;
    bool told_truth = false;      // of check sums (peer_checks.h)
    bool amid_polluters = false;  // this peer has met some not long ago
    bool operator==(const Facts&) const = default;
  };
  Facts of(const Neighbour& n) const {
    const auto known = facts_.find(n.key);
    return known == facts_.end() ? Facts{} : known->second;
  }
  static Regard regard_of(const Facts& facts) {
    const bool on_trial = !facts.proven && !facts.speaks;
    if (facts.mistrusted) return on_trial ? Regard::kSuspendedOnTrial : Regard::kSuspended;
    if (!on_trial) return Regard::kProven;
    const bool suspect = facts.amid_polluters || facts.was_mistrusted;
    return suspect ? Regard::kSuspect : Regard::kNew;
  }
  Regard regard_of(const Neighbour& n) const { return regard_of(of(n)); }

  // `change(Facts&)`, of one that is connected, or of all.
  template <typename Change>
  void note(const Neighbour& n, Change&& change) {
    Facts& facts = facts_[n.key];
    const Facts before = facts;
    change(facts);
    if (facts == before) return;
    verdicts_.push(Regarded{n.key, regard_of(facts), facts.amid_polluters, facts.speaks});
  }
  template <typename Change>
  void note_all(Change&& change) {
    for (const Neighbour& n : world_.neighbours) note(n, change);
  }
  // A row of the peer was shown to be true.
  void proved(const PeerId& id) {
    const Neighbour* n = world_.neighbours.find(id);
    if (n) note(*n, [](Facts& facts) { facts.proven = true; });
  }
  void left(const Neighbour& n) { facts_.erase(n.key); }

 private:
  const World& world_;
  Verdicts& verdicts_;
  std::map<PeerKey, Facts> facts_;
};

}  // namespace firn::core::trust
