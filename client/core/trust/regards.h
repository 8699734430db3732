// What was found out about each neighbour, and the Regard that follows from it (Neighbour::regard).
#pragma once

#include <map>
#include <utility>

#include "client/core/trust/verdicts.h"

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
    bool told_truth = false;  // of check sums (peer_checks.h)
  };
  Facts of(const Neighbour& n) const {
    const auto known = facts_.find(n.key);
    return known == facts_.end() ? Facts{} : known->second;
  }
  Regard regard_of(const Neighbour& n) const {
    const Facts facts = of(n);
    const bool on_trial = !facts.proven && !facts.speaks;
    if (facts.mistrusted) return on_trial ? Regard::kSuspendedOnTrial : Regard::kSuspended;
    if (!on_trial) return Regard::kProven;
    return amid_polluters_ || facts.was_mistrusted ? Regard::kSuspect : Regard::kNew;
  }

  // Of one that is connected.
  void note(const Neighbour& n, bool Facts::*fact, bool is) {
    if (std::exchange(facts_[n.key].*fact, is) != is) tell(n);
  }
  // How it is regarded now, as a verdict.
  void tell(const Neighbour& n) {
    verdicts_.emplace_back(Regarded{n.key, regard_of(n), amid_polluters_, of(n).speaks});
  }
  // This peer has met polluters not long ago.
  void set_amid_polluters(bool amid_polluters) {
    if (std::exchange(amid_polluters_, amid_polluters) == amid_polluters) return;
    for (const Neighbour& n : world_.neighbours) tell(n);
  }
  // A row of the peer was shown to be true.
  void proved(const PeerId& id) {
    if (const Neighbour* n = world_.neighbours.find(id)) note(*n, &Facts::proven, true);
  }
  void left(const Neighbour& n) { facts_.erase(n.key); }

 private:
  const World& world_;
  Verdicts& verdicts_;
  std::map<PeerKey, Facts> facts_;
  bool amid_polluters_ = false;
};

}  // namespace firn::core::trust
