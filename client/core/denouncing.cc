#include "client/core/denouncing.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/core/claims.h"
#include "client/core/policy/constants.h"
#include "proto/block_claim.h"

namespace firn::core {

Denouncing::Denouncing(const Context& context, Membership& membership, Outbox& outbox,
                       Accusations& accusations, const Epochs& epochs, const Holdings& holdings)
    : context_(context),
      membership_(membership),
      outbox_(outbox),
      accusations_(accusations),
      epochs_(epochs),
      holdings_(holdings),
      random_(context.options.seed, 0x64656e6f756e) {}

void Denouncing::denounce(proto::FalseClaim claim) {
  const PeerId accused = claimant_of(claim.claim);
  if (!cases_.contains(accused)) open(accused, std::move(claim), kNoPeer);
}

bool Denouncing::came(const Neighbour& n, proto::FalseClaim&& claim) {
  if (!claim_possible(claim, holdings_)) return false;
  const auto allowance = allowances_.try_emplace(n.key, policy::kFalseClaimsPerSecond,
                                                 policy::kFalseClaimsAtOnce, context_.now);
  if (!allowance.first->second.try_take(1, context_.now)) return true;
  const PeerId accused = claimant_of(claim.claim);
  if (membership_.banned_by_authority(accused)) return true;
  const auto known = cases_.find(accused);
  const bool enough =
      known != cases_.end() && (known->second.heard_from.contains(n.key) ||
                                known->second.heard_from.size() >= policy::kClaimsHandedOn);
  if (enough) return true;
  if (!claim_signed(claim, context_.content_id)) return false;
  if (known == cases_.end()) {
    open(accused, std::move(claim), n.key);
    return true;
  }
  // Another one may be the one that convicts.
  Case& about = known->second;
  about.heard_from.insert(n.key);
  about.claim = std::move(claim);
  about.from = n.key;
  send(about);
  return true;
}

void Denouncing::open(const PeerId& accused, proto::FalseClaim&& claim, PeerKey from) {
  if (cases_.size() == policy::kCasesMax) {
    cases_.erase(std::min_element(cases_.begin(), cases_.end(), [](const auto& a, const auto& b) {
      return a.second.since < b.second.since;
    }));
  }
  Case about{std::move(claim), from, context_.now, context_.now, 0, {}};
  if (from != kNoPeer) about.heard_from.insert(from);
  send(cases_.emplace(accused, std::move(about)).first->second);
}

// To the authority by the shortest way; the next time by any other.
Neighbour* Denouncing::next_hop(const Case& about) {
  std::vector<Neighbour*> others;
  for (Neighbour& n : membership_.neighbours()) {
    if (n.key == about.from || !n.holds.heard()) continue;
    if (n.contact.authority()) return &n;
    others.push_back(&n);
  }
  Neighbour* const upstream = membership_.find(epochs_.upstream());
  if (about.sent == 0 && upstream && upstream->key != about.from) return upstream;
  if (others.empty()) return nullptr;
  return others[random_.below(static_cast<std::uint32_t>(others.size()))];
}

void Denouncing::send(Case& about) {
  about.due = context_.now + policy::kClaimPatience;
  Neighbour* const to = next_hop(about);
  if (!to) return;
  ++about.sent;
  outbox_.send(*to, about.claim);
}

void Denouncing::learned(const proto::Epoch& epoch) {
  for (const PeerId& id : epoch.convicted) {
    cases_.erase(id);
    if (id == context_.options.self) {
      accusations_.convicted();
    } else {
      membership_.condemn(id);
    }
  }
}

void Denouncing::step() {
  for (auto it = cases_.begin(); it != cases_.end();) {
    Case& about = it->second;
    if (context_.now - about.since >= policy::kCaseLife) {
      it = cases_.erase(it);
      continue;
    }
    if (about.due <= context_.now) send(about);
    ++it;
  }
}

TimeUs Denouncing::next_due() const {
  TimeUs at = kNever;
  for (const auto& [accused, about] : cases_) at = std::min(at, about.due);
  return at;
}

}  // namespace firn::core
