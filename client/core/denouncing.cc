#include "client/core/denouncing.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/core/policy/constants.h"
#include "proto/base/digest.h"
#include "proto/block_claim.h"
#include "proto/wire_fields.h"

namespace firn::core {

Denouncing::Denouncing(const Context& context, Membership& membership, Outbox& outbox,
                       Accusations& accusations, const Epochs& epochs, const Holdings& holdings)
    : context_(context),
      membership_(membership),
      outbox_(outbox),
      accusations_(accusations),
      epochs_(epochs),
      brought_(context, holdings),
      onward_(policy::kFalseClaimsPerSecond, policy::kFalseClaimsAtOnce, context.now),
      random_(context.options.seed, 0x64656e6f756e) {}

// --- what this peer has found ---

void Denouncing::denounce(proto::FalseClaim claim) {
  const PeerId accused = claimant_of(claim.claim);
  if (findings_.contains(accused) || findings_.size() == policy::kFindingsMax) return;
  if (!claim_signed(claim, context_.content_id)) return;
  Finding& finding = findings_[accused];
  finding.claim = std::move(claim);
  finding.since = context_.now;
  send(accused, finding);
}

void Denouncing::send(const PeerId& accused, Finding& finding) {
  finding.due = context_.now + policy::kClaimPatience;
  const bool first = finding.last == kNoPeer;
  Neighbour* to = first ? towards_authority(accused, kNoPeer) : nullptr;
  if (!to) to = any_other(accused, finding.last);
  if (!to) return;
  finding.last = to->key;
  outbox_.send(*to, finding.claim);
}

void Denouncing::step() {
  std::erase_if(findings_, [this](const auto& one) {
    return context_.now - one.second.since >= policy::kFindingLife;
  });
  for (auto& [accused, finding] : findings_) {
    if (finding.due <= context_.now) send(accused, finding);
  }
}

TimeUs Denouncing::next_due() const {
  TimeUs at = kNever;
  for (const auto& [accused, finding] : findings_) at = std::min(at, finding.due);
  return at;
}

// --- what others have found ---

bool Denouncing::came(const Neighbour& n, const proto::FalseClaim& claim) {
  const BroughtClaims::Verdict verdict = brought_.look(n, claim);
  if (verdict != BroughtClaims::Verdict::kSigned)
    return verdict == BroughtClaims::Verdict::kTooMany;
  const PeerId accused = claimant_of(claim.claim);
  Neighbour* const to = towards_authority(accused, n.key);
  const Digest hash = sha256(proto::as_bytes(proto::claim_bytes(claim.claim)));
  if (!to || !new_enough(hash, accused, n.key) || !onward_.try_take(1, context_.now)) return true;
  handed_on_.push_back({hash, accused, n.key, context_.now});
  outbox_.send(*to, claim);
  return true;
}

// Its finder sends it again after a while. Few about one peer are handed on, and fewer that come
// from one neighbour: they may be true.
bool Denouncing::new_enough(const Digest& hash, const PeerId& accused, PeerKey from) {
  while (!handed_on_.empty() && context_.now - handed_on_.front().at >= policy::kFindingLife)
    handed_on_.pop_front();
  if (handed_on_.size() >= policy::kClaimsRemembered) return false;
  std::size_t about = 0, from_it = 0;
  for (const HandedOn& one : handed_on_) {
    if (one.hash == hash && context_.now - one.at < policy::kClaimPatience / 2) return false;
    about += one.accused == accused;
    from_it += one.accused == accused && one.from == from;
  }
  return about < policy::kClaimsHandedOn && from_it < policy::kClaimsHandedOnFrom;
}

// Null: it is `from`, or not known.
Neighbour* Denouncing::towards_authority(const PeerId& accused, PeerKey from) {
  Neighbour* to = membership_.find(epochs_.upstream());
  for (Neighbour& n : membership_.neighbours()) {
    if (epochs_.speaks(n.id)) to = &n;
  }
  return to && to->key != from && to->id != accused ? to : nullptr;
}

Neighbour* Denouncing::any_other(const PeerId& accused, PeerKey last) {
  std::vector<Neighbour*> others;
  for (Neighbour& n : membership_.neighbours()) {
    if (n.holds.heard() && n.key != last && n.id != accused) others.push_back(&n);
  }
  if (others.empty()) return nullptr;
  return others[random_.below(static_cast<std::uint32_t>(others.size()))];
}

// --- the authority's word ---

void Denouncing::learned(const proto::Epoch& epoch) {
  for (const PeerId& id : epoch.convicted) {
    findings_.erase(id);
    if (id == context_.options.self) {
      accusations_.convicted();
    } else {
      membership_.condemn(id, epochs_.speaker());
    }
  }
}

}  // namespace firn::core
