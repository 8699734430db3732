// Decides which blocks this peer takes: only those for which their sender answers (strict), only
// those made from trusted rows (believing), or any. Also knows which neighbours speak for the
// content's authority.
//
// A false row spreads if the peers that mix it into others need not answer for it. A peer can
// answer for a block made from proven rows (Standing::kProven) or from a generation that it has
// verified. If every peer answers for what it sends, a false block convicts its sender and cannot
// spread. For that, rows must be proven while they are still few: they came from the authority
// itself, or check sums of the authority have judged them (judging.h). Both need an authority
// nearby. So a peer of a small mesh is strict, unless it finds no authority, or nothing comes
// although one is connected; then it takes any block. In a large mesh a peer takes any block, and
// fetches generations block by block once it has met a false row (plain_mode.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "client/core/base/constants.h"
#include "client/core/mesh/peer_book.h"
#include "client/core/trust/mistrust.h"
#include "client/core/trust/recent_ids.h"
#include "client/core/trust/regards.h"
#include "client/core/trust/verdicts.h"

namespace firn::core::trust {

// So long trusted rows alone are wanted where nobody near is known to tell the truth; and after
// sums that contradict each other. Less: rows are dropped again; more: a liar holds up longer.
inline constexpr TimeUs kBelieveUnsure = 60 * kSecond;
inline constexpr TimeUs kConvictedMemory = kBanTimes[2];  // then convictions are forgotten
inline constexpr TimeUs kTruthPatience = 10 * kSecond;    // holders have this long to tell it

// How long a peer is careful after it has met false rows, or check sums that contradict each other.
class Guard {
 public:
  // It met some, and is on its guard for this time at least.
  void raise(TimeUs now, TimeUs time) {
    if (!on(now)) since_ = now;
    last_ = now;
    until_ = std::max(until_, now + time);
  }
  bool on(TimeUs now) const { return now < until_; }
  // When it met some last; 0: never.
  TimeUs last() const { return last_; }
  // Since when it has been all the time.
  TimeUs since() const { return since_; }

 private:
  TimeUs since_ = 0, last_ = 0, until_ = 0;
};

class Regime {
 public:
  // `authority_key`: of the manifest; empty: nobody speaks for the content.
  Regime(const World& world, Verdicts& verdicts, Regards& regards, std::string authority_key);

  // Judges the neighbour's certificate; its Hello has come.
  void greeted(const Neighbour& n);
  // An earlier run left rows that are proven, so others may have some as well, and answer for them.
  void met_before() { met_ = true; }
  // This peer takes only what its sender answers for.
  bool strict() const { return strict_; }
  // In a small mesh where no authority is near: rows are judged by the word of peers that may lie
  // (peer_checks.h).
  bool unguided() const { return unguided_; }
  // In a large mesh: rows are judged by nobody.
  bool alone_at_large() const { return !world_.life.complete() && !world_.mesh.small_mesh(); }
  // In a small one, once a false row was met, while somebody is near that holds everything: this
  // peer wants only what is made from rows that their sender trusts (Rows::kTrusted).
  bool believing() const { return believing_; }
  // A row that came as it was made from a holder of its generation is believed.
  bool believes(const Neighbour& n) const {
    return !regards_.of(n).was_mistrusted && !(believing_ && on_trial(regards_.regard_of(n)));
  }
  // By this time the neighbour had heard by a State that mixtures of rows which it does not trust
  // are not wanted, and what it had sent before had come.
  bool terms_known(const Neighbour& n, TimeUs at) const {
    return believing_ && at - changed_at_ >= kStateIntervalMax + 2 * n.grants.round_trip();
  }
  // A false row was met, or check sums that contradict each other: peers are on their guard for so
  // long.
  void alarm(TimeUs time) { guard_.raise(world_.context.now, time); }

  Mistrust& mistrust() { return mistrust_; }
  // It has turned out what this peer's check sums are worth. `vouched`: it has spoken for the
  // authority, and does so no more.
  void found_truthful(const PeerId& maker);
  void found_lying(const PeerId& maker, bool vouched);

  // Neighbours that came at this time or later are given little before a row of theirs has been
  // shown to be true (on_trial); kNever: none are. So it is in a large mesh that has
  // more polluters than can be found out one by one, as far as those tell that this peer has met.
  // Those that were there before the first false row have a while to prove themselves.
  TimeUs trial_from() const;

  // Sent a false block for which it answered.
  void convict(const PeerId& id);
  // It had not.
  void acquit(const PeerId& id);
  // The first bytes of the ids of those that did last (PeerId::prefix), until there has been none
  // for kConvictedMemory.
  const std::vector<std::uint64_t>& convicted() const { return convicted_; }

  // The neighbours that speak for the content's authority; few.
  const std::vector<PeerKey>& authorities() const { return authorities_; }

  void step();
  TimeUs next_due() const;

  void neighbour_left(const Neighbour& n) { std::erase(authorities_, n.key); }

 private:
  // The content has an authority, and rows are judged by its word.
  bool possible() const { return !authority_key_.empty() && world_.mesh.small_mesh(); }
  bool holder_near() const;
  bool wants_proof(TimeUs heard_at) const;
  bool wants_belief() const;
  void step_proof();
  bool many_polluters() const;
  TimeUs opens_at() const;

  const World& world_;
  Verdicts& verdicts_;
  Regards& regards_;
  const std::string authority_key_;
  // Peers with the authority's certificate that have told false check sums: their word counts as
  // anybody's.
  RecentIds discredited_;
  std::vector<PeerKey> authorities_;
  std::vector<std::uint64_t> convicted_;
  TimeUs convicted_at_ = 0;  // the last was
  bool strict_, unguided_ = false, believing_ = false;
  Guard guard_;
  TimeUs strict_since_ = 0, open_since_ = 0;
  TimeUs changed_at_ = 0;  // whether this peer believes
  Mistrust mistrust_;
  bool met_ = false;       // a neighbour has spoken for the authority, or met_before()
  bool near_ = false;      // one does, where its word counts
  TimeUs near_until_ = 0;  // when it was seen last
};

}  // namespace firn::core::trust
