#include "client/core/contributions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/core/policy/constants.h"
#include "client/core/policy/source_policy.h"

namespace firn::core {

Contributions::Contributions(const Context& context, Membership& membership, const Trust& trust)
    : context_(context), membership_(membership), trust_(trust) {}

void Contributions::leaves(const Neighbour& n) {
  counts_.erase(n.key);
  for (auto& [key, count] : counts_) count.reported.erase(n.key);
}

// Of the blocks that reporters received from the neighbour since the last review; nullopt: too few
// reporters to tell. A reporter that names others and not this neighbour has received nothing.
std::optional<double> Contributions::median_growth(const Neighbour& of, Count& count) const {
  std::vector<double> growths;
  for (const Neighbour& reporter : std::as_const(membership_).neighbours()) {
    if (reporter.key == of.key || reporter.holds.has_everything() || !reporter.reports.any()) {
      continue;
    }
    const std::int64_t told = std::max<std::int64_t>(reporter.reports.from(of.id.prefix()), 0);
    const auto [last, fresh] = count.reported.try_emplace(reporter.key, told);
    growths.push_back(fresh ? 0
                            : static_cast<double>(std::max<std::int64_t>(told - last->second, 0)));
    last->second = told;
  }
  if (growths.size() < policy::kReportersMin) return std::nullopt;
  const auto middle = growths.begin() + static_cast<std::ptrdiff_t>(growths.size() / 2);
  std::nth_element(growths.begin(), middle, growths.end());
  return *middle;
}

// Polluters that all others have banned gather at the source. So the word of neighbours counts that
// this peer has called: of these no more are hostile than of the swarm. And of those that come
// under alarm more are hostile.
double Contributions::worth_at_large(const Neighbour& of) const {
  std::size_t asked = 0, accusers = 0;
  for (const Neighbour& n : std::as_const(membership_).neighbours()) {
    if (n.key == of.key || !n.contact.outgoing() || n.holds.has_everything()) continue;
    ++asked;
    accusers += n.reports.convicts(of.id.prefix());
  }
  const bool many =
      static_cast<double>(accusers) >= policy::kAccusersShare * static_cast<double>(asked);
  if (accusers >= policy::kAccusersMin && many) return policy::kWorthMin;
  const bool newcomer =
      trust_.strict() && !of.contact.outgoing() && of.contact.opened_at() >= trust_.strict_since();
  return accusers > 0 || newcomer ? policy::kDoubtedWorth : 1;
}

void Contributions::step() {
  if (context_.now - reviewed_ < policy::kReportInterval) return;
  const double kept = std::exp(-static_cast<double>(context_.now - reviewed_) /
                               static_cast<double>(policy::kContributionMemory));
  reviewed_ = context_.now;
  const bool small_mesh = membership_.small_mesh();
  for (Neighbour& n : membership_.neighbours()) {
    if (!small_mesh) n.worth = worth_at_large(n);
    if (!small_mesh || n.holds.has_everything()) continue;
    const auto [entry, fresh] = counts_.try_emplace(n.key);
    Count& count = entry->second;
    if (fresh) count.since = context_.now;
    const std::uint64_t sent = n.pipe.blocks_sent();
    count.given = count.given * kept + static_cast<double>(sent - count.given_seen);
    count.given_seen = sent;
    const std::optional<double> growth = median_growth(n, count);
    count.passed_on = count.passed_on * kept + growth.value_or(0);
    const bool judged = growth && count.given >= policy::kGivenMin &&
                        context_.now - count.since >= policy::kNewcomerTime;
    if (judged) n.worth = policy::worth_of(count.passed_on / count.given);
  }
}

}  // namespace firn::core
