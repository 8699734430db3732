#include "client/core/send/seeding.h"

#include <algorithm>
#include <string>
#include <utility>

namespace firn::core {

constexpr TimeUs kDepartureInterval = 100 * kMillisecond;  // is it safe to leave? Less costs CPU

using Kind = SeedPolicy::Kind;

void Seeding::begin_as_source() {
  if (context_.options.seeding.kind == Kind::kWhenSafe) departure_.emplace(holdings_.shape());
}

bool Seeding::sent(const proto::Block& block, PeerKey peer) {
  if (!departure_) return false;
  departure_->sent(peer, block.sequence, block.generation, block.source_index, block.coefficients);
  return true;
}

void Seeding::not_made(PeerKey peer, std::uint32_t sequence) {
  if (departure_) departure_->failed(peer, sequence);
}

void Seeding::told(const Neighbour& n) {
  if (n.holds.satisfied()) {
    satisfied_.insert(n.key);
  } else {
    satisfied_.erase(n.key);
  }
  if (departure_) departure_->acknowledged(n.key, n.pipe.acknowledged());
  if (!n.holds.has_everything()) return;
  if (receivers_.size() < context_.options.seeding.receivers) receivers_.insert(n.id);
  std::erase_if(awaited_, [&n](const auto& host) { return host.contains(n.contact.ip()); });
}

void Seeding::neighbour_left(const Neighbour& n) {
  satisfied_.erase(n.key);
  if (departure_) departure_->gone(n.key);
}

void Seeding::part_if_useless(Neighbour& n) {
  // Our last State must have left first, or it would not know that we are complete.
  if (!life_.complete() || !n.holds.satisfied() || n.untold.complete_pending()) return;
  // It will part from us as well: what it proves is looked at before that.
  if (departure_ && departure_->safe(membership_.neighbours())) departure_proven_ = true;
  if (departure_proven_) return;
  membership_.drop(n, proto::GoodbyeReason::kNotUseful, "both complete");
}

void Seeding::step() {
  if (blocks_seen_ != uplink_.blocks_sent()) {
    blocks_seen_ = uplink_.blocks_sent();
    fetched_at_ = context_.now;
  }
  if (!life_.complete()) return;
  const std::vector<PeerKey> keys(satisfied_.begin(), satisfied_.end());
  for (const PeerKey key : keys) part_if_useless(*membership_.find(key));
  const bool departs = may_depart();
  if (departs) outbox_.inform("the others hold all that they want between them; leaving");
  if (!departs && !duty_done()) return;
  say_why();
  leave();
}

void Seeding::say_why() {
  const SeedPolicy& seeding = context_.options.seeding;
  if (seeding.kind == Kind::kIdle) {
    outbox_.inform("nobody has fetched anything for " + std::to_string(seeding.duration / kSecond) +
                   " s; leaving");
  } else if (seeding.kind == Kind::kReceived && !seeding.awaited.empty()) {
    outbox_.inform("all hosts that were named have everything; leaving");
  } else if (seeding.kind == Kind::kReceived) {
    outbox_.inform(std::to_string(seeding.receivers) +
                   (seeding.receivers == 1 ? " peer has" : " peers have") + " everything; leaving");
  }
}

TimeUs Seeding::idle_at() const {
  const TimeUs duration = context_.options.seeding.duration;
  const TimeUs since = std::max(fetched_at_, life_.completed_at());
  return duration < kNever - since ? since + duration : kNever;
}

// A peer that leaves as soon as it is complete has not told its neighbours yet.
void Seeding::leave() {
  granting_.tell_completion();
  membership_.stop();
}

bool Seeding::may_depart() {
  if (!departure_ || departure_proven_) return departure_proven_;
  if (context_.now < departure_due_) return false;
  departure_due_ = context_.now + kDepartureInterval;
  return departure_->safe(membership_.neighbours());
}

bool Seeding::duty_done() const {
  const SeedPolicy& seeding = context_.options.seeding;
  const TimeUs stayed = context_.now - life_.completed_at();
  switch (seeding.kind) {
    case Kind::kNone:
      return true;
    case Kind::kForever:
    case Kind::kWhenSafe:  // may_depart
      return false;
    case Kind::kRatio:
      // In whole blocks, so that framing does not take the last one from a neighbour.
      return static_cast<double>(uplink_.blocks_sent()) >=
             seeding.ratio * static_cast<double>(holdings_.wanted().blocks);
    case Kind::kReceived:
      return receivers_.size() >= seeding.receivers && awaited_.empty();
    case Kind::kIdle:
      return context_.now >= idle_at();
    case Kind::kDuration:
      return stayed >= seeding.duration;
    case Kind::kWhileNeeded:
      if (stayed >= seeding.duration) return true;
      if (holdings_.whole()) return satisfied_.size() == membership_.neighbours().size();
      // One needs ours that has said nothing yet, or takes something that this peer holds.
      return std::ranges::none_of(
          std::as_const(membership_).neighbours(), [this](const Neighbour& n) {
            return !n.holds.heard() || !n.holds.settled().includes(holdings_.held());
          });
  }
  return true;
}

TimeUs Seeding::next_due() {
  const SeedPolicy& seeding = context_.options.seeding;
  TimeUs at = kNever;
  if (departure_ && !std::as_const(membership_).neighbours().empty()) at = departure_due_;
  if (!life_.complete()) return at;
  if (seeding.kind == Kind::kIdle) return std::min(at, idle_at());
  if (seeding.kind != Kind::kDuration && seeding.kind != Kind::kWhileNeeded) return at;
  const TimeUs left = seeding.duration - (context_.now - life_.completed_at());
  return left < kNever - context_.now ? std::min(at, context_.now + left) : at;
}

}  // namespace firn::core
