#include "client/core/mesh/connection_watch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/core/mesh/gossip.h"

namespace firn::core {

// A stuck connection is given up, and not before it would drain at this many bytes a second. Less:
// peers that sleep are lost; more: a dead one keeps its place.
constexpr TimeUs kStuckPatience = 60 * kSecond;
constexpr std::uint64_t kStuckRate = 4096;

using proto::GoodbyeReason;

TimeUs ConnectionWatch::next_due() {
  return std::as_const(membership_).neighbours().empty() ? kNever : due_;
}

void ConnectionWatch::step() {
  if (context_.now < due_) return;
  give_up();
  if (context_.now - reviewed_at_ >= kExchangeInterval) {
    reviewed_at_ = context_.now;
    replace_useless();
  }
  look_by(reviewed_at_ + kExchangeInterval);
}

// How long a connection with queued blocks may stand still: even a very slow uplink of ours would
// have carried all that is queued by then.
TimeUs ConnectionWatch::stuck_patience() const {
  std::uint64_t blocks = 0;
  for (const Neighbour& n : std::as_const(membership_).neighbours()) blocks += n.pipe.queued();
  const std::uint64_t seconds = blocks * block_bytes_ / kStuckRate;
  return kStuckPatience + static_cast<TimeUs>(seconds) * kSecond;
}

void ConnectionWatch::give_up() {
  struct Lost {
    PeerKey peer;
    GoodbyeReason reason;
    const char* why;
  };
  std::vector<Lost> late, stuck, used_up;
  const TimeUs patience = stuck_patience();
  due_ = context_.now + kStuckPatience;
  for (const Neighbour& n : std::as_const(membership_).neighbours()) {
    const TimeUs greets_by = n.contact.opened_at() + kHelloTimeout;
    if (!n.contact.greeted() && context_.now >= greets_by) {
      late.push_back({n.key, GoodbyeReason::kProtocolError, "no Hello"});
    } else if (n.grants.used_up()) {
      used_up.push_back(
          {n.key, GoodbyeReason::kUnspecified, "the credit is used up; connect again"});
    } else if (n.pipe.queued() > 0 && context_.now - n.pipe.waiting_since() >= patience) {
      stuck.push_back({n.key, GoodbyeReason::kUnspecified, "takes no data"});
    } else if (!n.contact.greeted()) {
      look_by(greets_by);
    } else if (n.pipe.queued() > 0) {
      look_by(n.pipe.waiting_since() + patience);
    }
  }
  for (const auto* some : {&late, &stuck, &used_up}) {
    for (const Lost& one : *some)
      membership_.drop(*membership_.find(one.peer), one.reason, one.why);
  }
}

// In a large mesh the neighbours are a choice: one with which no block has moved either way since
// the last review makes room for a peer that may be of more use. One at a time, and only where
// another is known.
void ConnectionWatch::replace_useless() {
  const bool crowded = !membership_.small_mesh() && membership_.count().crowded();
  Neighbour* useless = nullptr;
  std::map<PeerKey, std::uint64_t> moved;
  for (Neighbour& n : membership_.neighbours()) {
    const auto before = moved_.find(n.key);
    const bool settled =
        context_.now - n.contact.opened_at() >= kExchangeInterval && n.holds.heard();
    const std::uint64_t then = before == moved_.end() ? 0 : before->second;
    if (crowded && settled && n.moved() == then) useless = &n;
    moved[n.key] = n.moved();
  }
  moved_ = std::move(moved);
  if (!useless || block_bytes_ == 0 || life_.complete()) return;
  if (membership_.book().next_due() > context_.now) return;
  membership_.drop(*useless, GoodbyeReason::kNotUseful, "nothing moves");
}

}  // namespace firn::core
