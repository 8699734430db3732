#include "client/core/send/source/contributions.h"

#include <cmath>
#include <utility>

#include "client/core/neighbour/untold.h"
#include "client/core/send/source/source_policy.h"

namespace firn::core {

namespace {

// How long the first rows that a neighbour is given, and the reports of them, may be on their way.
TimeUs on_the_way(const Neighbour& n) {
  const TimeUs path = kReportInterval + kNewcomerRoundTrips * n.grants.round_trip();
  return std::clamp(path, kNewcomerTime, 2 * kNewcomerTime);
}

}  // namespace

Contributions::Contributions(const Context& context, Membership& membership, Spread& spread)
    : context_(context), membership_(membership), spread_(spread) {}

void Contributions::neighbour_left(const Neighbour& n) {
  counts_.erase(n.key);
  known_reporters_.erase(n.key);
  for (auto& [key, count] : counts_) count.reported.erase(n.key);
}

// What the reporter tells of each neighbour is compared with the most that it ever told, whether it
// is heard or not: one that leaves a neighbour out for a while, or tells of it in leaps, gains
// nothing. A reporter that does not name a neighbour has received nothing from it. The sum.
std::uint64_t Contributions::note_growth(const Neighbour& reporter) {
  std::int64_t sum = 0;
  for (const Neighbour& of : std::as_const(membership_).neighbours()) {
    if (of.key == reporter.key || of.holds.has_everything()) continue;
    const std::int64_t told = std::max<std::int64_t>(reporter.reports.from(of.id.prefix()), 0);
    const auto [entry, fresh] = counts_[of.key].reported.try_emplace(reporter.key);
    Count::Told& known = entry->second;
    const std::int64_t grown = fresh ? 0 : std::max<std::int64_t>(told - known.most, 0);
    known = {std::max(told, known.most), static_cast<double>(grown)};
    sum += grown;
  }
  return static_cast<std::uint64_t>(sum);
}

// Those that something has reached since the last review. A peer that all others have banned, or
// that has not reported since, says nothing of any of them.
void Contributions::find_reporters(double kept) {
  reporters_.clear();
  for (const Neighbour& reporter : std::as_const(membership_).neighbours()) {
    if (reporter.holds.has_everything() || !reporter.reports.any()) continue;
    const std::uint64_t grown = note_growth(reporter);
    Reporter& known = known_reporters_[reporter.key];
    if (known.speaks(reporter, grown, kept)) reporters_.push_back(&reporter);
  }
  voices_.review(reporters_);
}

// Of the blocks that reporters received from a neighbour since the last review; nullopt: too few
// reporters to tell. A reporter that wants other generations has no use for its blocks [099].
std::optional<double> Contributions::told_growth(const Neighbour& of, const Count& count) const {
  std::vector<Said> growths;
  for (const Neighbour* reporter : reporters_) {
    const auto told = count.reported.find(reporter->key);
    if (told != count.reported.end() &&
        reporter->holds.shares_interest(of.holds.settled(), of.holds.complete()))
      growths.push_back({told->second.grown, voices_.weight(reporter->key)});
  }
  if (growths.size() < kReportersMin) return std::nullopt;
  return reached_by(growths, kReportersShare);
}

bool Contributions::review_at_large(double kept) {
  known_reporters_.clear();
  counts_.clear();
  was_large_ = true;
  judges_ = false;
  spread_.forget(kept);
  return spread_.review();
}

// What was given meanwhile is not held against anybody when the mesh becomes small.
void Contributions::begin_again() {
  was_large_ = false;
  for (Neighbour& n : membership_.neighbours()) {
    n.worth = 1;
    Count& count = counts_[n.key];
    count.since = context_.now;
    count.given_seen = n.pipe.blocks_sent();
  }
}

void Contributions::count(const Neighbour& n, double kept) {
  Count& count = counts_[n.key];
  if (count.since == kNever) count.since = context_.now;
  const std::uint64_t sent = n.pipe.blocks_sent();
  count.given = count.given * kept + static_cast<double>(sent - count.given_seen);
  count.given_seen = sent;
  const std::optional<double> growth = told_growth(n, count);
  count.passed_on = count.passed_on * kept + growth.value_or(0);
  count.judged = growth && count.given >= kGivenMin && context_.now - count.since >= on_the_way(n);
  if (!count.judged) return;
  count.ever_judged = true;
  count.share = count.passed_on / count.given;
}

// A peer that comes when others can be judged may be one that these have banned, under a fresh key:
// it begins with a part of a share, until it is judged itself. What is given of a small share is
// soon too little to judge by, so that ends; the later, the more of its network have taken and
// passed nothing on.
void Contributions::greeted(Neighbour& n) {
  if (!membership_.small_mesh()) return spread_.greeted(n);
  if (!judges_ || n.contact.opened_at() <= judged_since_) return;
  n.worth = n.barren_before == 0 ? kNewcomerWorth : kWorthMin;
}

void Contributions::review_newcomer(Neighbour& n) const {
  const TimeUs doubled = std::min(n.barren_before, Predecessors::kDoublingsMax);
  const bool is_new = context_.now - n.contact.opened_at() < kNewcomerTimeMax << doubled;
  if (!judges_ || !is_new) n.worth = std::max(n.worth, 1.0);
}

std::optional<bool> Contributions::review() {
  if (context_.now - reviewed_ < kReportInterval) return std::nullopt;
  const double kept = std::exp(-static_cast<double>(context_.now - reviewed_) /
                               static_cast<double>(kContributionMemory));
  reviewed_ = context_.now;
  if (!membership_.small_mesh()) return review_at_large(kept);
  if (was_large_) begin_again();
  find_reporters(kept);
  judges_ = false;
  for (const Neighbour& n : std::as_const(membership_).neighbours()) {
    if (n.holds.has_everything()) continue;
    count(n, kept);
    judges_ |= counts_[n.key].judged;
  }
  for (Neighbour& n : membership_.neighbours()) {
    const auto known = counts_.find(n.key);
    if (known != counts_.end() && !known->second.ever_judged) review_newcomer(n);
  }
  if (judges_) judged_since_ = std::min(judged_since_, context_.now);
  const double usual = usual_share();
  bool found = false;
  for (Neighbour& n : membership_.neighbours()) {
    const auto known = counts_.find(n.key);
    if (n.holds.has_everything() || known == counts_.end()) continue;
    Count& count = known->second;
    const bool was_sink = n.sink();
    if (judges_ && count.ever_judged) n.worth = policy::worth_of(count.share_by_now(), usual);
    // Of one that is given next to nothing nothing more is lost.
    found |= count.judged && n.sink() && !was_sink;
  }
  return found;
}

// The share that a quarter reach. Those that are given too little to be judged again count as well,
// or what is usual would become what the best do. Where more than three quarters pass nothing on,
// sinks and those with slow uplinks, the best tells; but not at once, as somebody is always first.
double Contributions::usual_share() const {
  std::vector<Said> shares;
  for (const Neighbour& n : std::as_const(membership_).neighbours()) {
    const auto known = counts_.find(n.key);
    if (n.holds.has_everything() || known == counts_.end()) continue;
    if (known->second.ever_judged) shares.push_back({known->second.share});
  }
  if (shares.empty()) return 0;
  const double usual = reached_by(shares, kUsualShare);
  if (usual > 0 || context_.now - judged_since_ < kNewcomerTime) return usual;
  return shares.front().value;
}

}  // namespace firn::core
