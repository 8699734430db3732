#include "client/core/trust/regime.h"

#include <utility>

#include "proto/base/limits.h"
#include "proto/content/authority.h"

namespace firn::core::trust {

namespace {

// Each polluter costs each peer five blocks or so, until it is convicted. Where a peer has
// convicted many, or some and there must be very many in all if its neighbours are like the rest of
// the swarm, it serves further ones last that have not proven a row yet. Where there are fewer it
// is quicker to find them all out [064].
constexpr std::size_t kManyConvictions = 20;
constexpr std::size_t kSomeConvictions = 4;
// For those that were neighbours before the first false row: theirs are judged by then.
constexpr TimeUs kTrialGrace = 5 * kSecond;
constexpr double kManyPolluters = 100;

bool in_good_standing(Regard regard) {
  return !is_suspect(regard) && !is_suspended(regard);
}

}  // namespace

Regime::Regime(const World& world, Verdicts& verdicts, Regards& regards, std::string authority_key)
    : world_(world),
      verdicts_(verdicts),
      regards_(regards),
      authority_key_(std::move(authority_key)),
      strict_(possible()),
      mistrust_(world, regards),
      near_until_(world.context.now) {}

void Regime::greeted(const Neighbour& n) {
  mistrust_.greeted(n);
  regards_.tell(n);
  if (!certified(authority_key_, world_.context.content_id, n.id, n.contact.certificate())) return;
  if (discredited_.contains(n.id)) return;
  if (!regards_.of(n).speaks) authorities_.push_back(n.key);
  regards_.note(n, &Regards::Facts::speaks, true);
  met_ = true;
  near_ = possible();
}

// A neighbour that holds everything can tell for any row whether it is true (peer_checks.h), unless
// it only claims to hold it: one that has not told the truth counts no more where false rows are
// still met after it could have been asked for a while.
bool Regime::holder_near() const {
  const auto& neighbours = world_.neighbours;
  return std::any_of(neighbours.begin(), neighbours.end(), [this](const Neighbour& n) {
    if (!n.holds.has_everything() || !in_good_standing(regards_.regard_of(n))) return false;
    const TimeUs askable = std::max({guard_.since(), n.contact.opened_at(), near_until_});
    return regards_.of(n).told_truth || !guard_.on(world_.context.now) ||
           guard_.last() - askable < kTruthPatience;
  });
}

// An authority that is near may be frozen, or have nothing for us: what it could prove then is of
// no use. With neither an authority nor a holder of everything near, a peer that had one goes on
// with what it took while blocks that are answered for still come: the source of a small mesh
// leaves when its neighbours hold enough proven rows between them.
TimeUs Regime::opens_at() const {
  const TimeUs fed = std::max(world_.life.progressed_at(), strict_since_);
  if (near_) return fed + kStarvingTime;
  return (met_ && !holder_near() ? std::max(near_until_, fed) : near_until_) + kStallVoid;
}

// It goes back to that where what it took after it was false.
bool Regime::wants_proof(TimeUs heard_at) const {
  if (!possible()) return false;
  if (world_.life.complete()) return strict_;
  if (strict_) return world_.context.now < opens_at();
  return near_ ? heard_at > open_since_ : met_ && guard_.last() > open_since_ && !holder_near();
}

bool Regime::many_polluters() const {
  if (convicted_.size() >= kManyConvictions) return true;
  if (convicted_.size() < kSomeConvictions) return false;
  const auto found = static_cast<double>(convicted_.size());
  const auto others = static_cast<double>(world_.neighbours.size());
  const double share = found / (found + others);
  return share * static_cast<double>(world_.mesh.swarm_size()) >= kManyPolluters;
}

TimeUs Regime::trial_from() const {
  if (!guard_.on(world_.context.now) || !alone_at_large() || !many_polluters()) return kNever;
  return world_.context.now - guard_.since() < kTrialGrace ? guard_.since() : 0;
}

void Regime::convict(const PeerId& id) {
  convicted_at_ = world_.context.now;
  if (std::find(convicted_.begin(), convicted_.end(), id.prefix()) != convicted_.end()) return;
  if (convicted_.size() == limits::kConvictedMax) convicted_.erase(convicted_.begin());
  convicted_.push_back(id.prefix());
  regards_.set_amid_polluters(true);
}

void Regime::acquit(const PeerId& id) {
  std::erase(convicted_, id.prefix());
  regards_.set_amid_polluters(!convicted_.empty());
}

// Where a neighbour that holds everything has sent something since the last change, and something
// useful comes. Where nothing does, and for long by the word of peers that may lie alone, any row
// is wanted.
bool Regime::wants_belief() const {
  if (!unguided_ || !guard_.on(world_.context.now)) return false;
  TimeUs came_at = -1;
  bool sure = false;
  for (const Neighbour& n : world_.neighbours) {
    if (!n.holds.has_everything() || !in_good_standing(regards_.regard_of(n))) continue;
    came_at = std::max(came_at, n.grants.last_arrival());
    sure |= regards_.of(n).told_truth;
  }
  if (came_at < 0) return false;
  const TimeUs for_so_long = world_.context.now - changed_at_;
  if (!believing_)
    return changed_at_ == 0 || (came_at > changed_at_ && (sure || for_so_long >= kBelieveUnsure));
  if (!sure && for_so_long >= kBelieveUnsure) return false;
  return world_.context.now < std::max(world_.life.progressed_at(), changed_at_) + kStarvingTime;
}

void Regime::found_truthful(const PeerId& maker) {
  if (const Neighbour* n = world_.neighbours.find(maker))
    regards_.note(*n, &Regards::Facts::told_truth, true);
  mistrust_.found_truthful(maker);
}

// Whose rows were true by its word nobody has kept.
void Regime::found_lying(const PeerId& maker, bool vouched) {
  if (vouched) discredited_.add(maker);
  if (const Neighbour* n = world_.neighbours.find(maker))
    regards_.note(*n, &Regards::Facts::told_truth, false);
  for (const Neighbour& n : world_.neighbours) regards_.note(n, &Regards::Facts::proven, false);
  mistrust_.found_lying(maker);
}

void Regime::step() {
  if (!convicted_.empty() && world_.context.now - convicted_at_ >= kConvictedMemory) {
    convicted_.clear();
    regards_.set_amid_polluters(false);
  }
  mistrust_.step();
  step_proof();
  unguided_ = !strict_ && !near_ && !world_.life.complete() && world_.mesh.small_mesh();
  const bool believing = wants_belief();
  if (believing == believing_) return;
  believing_ = believing;
  changed_at_ = world_.context.now;
  verdicts_.push_back(Tell{});
}

void Regime::step_proof() {
  TimeUs heard_at = 0;  // an authority was
  near_ = possible() && !authorities_.empty();
  for (const PeerKey key : authorities_) {
    heard_at = std::max(heard_at, world_.neighbours.find(key)->traffic.heard_at());
  }
  if (near_) near_until_ = world_.context.now;
  const bool strict = wants_proof(heard_at);
  if (strict == strict_) return;
  strict_ = strict;
  (strict ? strict_since_ : open_since_) = world_.context.now;
  verdicts_.push_back(Tell{});
}

TimeUs Regime::next_due() const {
  const TimeUs opens = strict_ && !world_.life.complete() ? opens_at() : kNever;
  const TimeUs starves =
      believing_ ? std::max(world_.life.progressed_at(), changed_at_) + kStarvingTime : kNever;
  return std::min({opens, starves, mistrust_.next_due()});
}

}  // namespace firn::core::trust
