#include "client/core/trust.h"

#include <algorithm>
#include <utility>

#include "client/core/policy/constants.h"
#include "proto/content/authority.h"

namespace firn::core {

Trust::Trust(const Context& context, const Life& life, Membership& membership,
             std::string authority_key)
    : context_(context),
      life_(life),
      membership_(membership),
      authority_key_(std::move(authority_key)),
      strict_(possible() && membership.small_mesh()),
      near_until_(context.now) {}

void Trust::greeted(Neighbour& n) {
  if (!certified(authority_key_, context_.content_id, n.id, n.contact.certificate())) return;
  n.contact.proves_authority();
  met_ = near_ = true;
}

// Without an authority near, a peer that had one goes on with what it took while blocks that are
// answered for still come: the source of a small mesh leaves when its neighbours hold enough proven
// rows between them.
TimeUs Trust::opens_at() const {
  const TimeUs since = met_ ? std::max(near_until_, life_.progressed_at()) : near_until_;
  return since + policy::kStallVoid;
}

bool Trust::wants_proof() const {
  if (!possible() || !membership_.small_mesh()) return false;
  if (near_) return true;
  return strict_ && context_.now < opens_at();
}

void Trust::step() {
  if (!possible()) return;
  const Neighbours& neighbours = std::as_const(membership_).neighbours();
  near_ = std::any_of(neighbours.begin(), neighbours.end(),
                      [](const Neighbour& n) { return n.contact.authority(); });
  if (near_) near_until_ = context_.now;
  const bool strict = wants_proof();
  if (strict == strict_) return;
  strict_ = strict;
  for (Neighbour& n : membership_.neighbours()) n.news.report_terms();
}

TimeUs Trust::next_due() const {
  return strict_ && !near_ && !life_.complete() ? opens_at() : kNever;
}

}  // namespace firn::core
