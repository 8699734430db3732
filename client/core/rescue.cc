#include "client/core/rescue.h"

#include <algorithm>

#include "client/core/policy/constants.h"

namespace firn::core {

namespace {

// Distinct senders, those of most rows first.
std::vector<PeerId> by_share(const std::vector<PeerId>& senders) {
  std::map<PeerId, std::size_t> rows;
  for (const PeerId& id : senders) ++rows[id];
  std::vector<PeerId> ids;
  for (const auto& [id, count] : rows) ids.push_back(id);
  std::stable_sort(ids.begin(), ids.end(),
                   [&](const PeerId& a, const PeerId& b) { return rows[a] > rows[b]; });
  return ids;
}

}  // namespace

Rescue::Verdict Rescue::failed(std::uint32_t g, const std::vector<PeerId>& senders,
                               const Holders& holders, TimeUs now) {
  Case& c = cases_[g];
  const std::vector<PeerId> contributors = by_share(senders);
  Verdict verdict;
  if (contributors.size() == 1) {
    verdict.guilty = contributors.front();
    c.tried.insert(contributors.front());
  } else {
    c.contributors = contributors;
    verdict.keep_evidence = c.has_evidence || evidence_ < evidence_max_;
    if (verdict.keep_evidence && !c.has_evidence) ++evidence_;
    c.has_evidence = verdict.keep_evidence;
  }
  ++c.attempt;
  if (!c.lifted) choose(c, g, holders, now);
  return verdict;
}

void Rescue::lift(std::uint32_t g) {
  const auto it = cases_.find(g);
  if (it == cases_.end()) return;
  it->second.lifted = true;
  it->second.only.reset();
  it->second.excluded.reset();
}

void Rescue::choose(Case& c, std::uint32_t g, const Holders& holders, TimeUs now) {
  c.only.reset();
  c.excluded.reset();
  c.last_progress = now;
  for (const PeerId& id : holders(g)) {
    if (c.tried.contains(id)) continue;
    c.only = id;
    c.tried.insert(id);
    return;
  }
  c.tried.clear();  // all were tried: begin anew when they are needed again
  if (!c.contributors.empty()) c.excluded = c.contributors[c.attempt % c.contributors.size()];
}

bool Rescue::verified(std::uint32_t g) {
  const auto it = cases_.find(g);
  if (it == cases_.end()) return false;
  const bool evidence = it->second.has_evidence;
  if (evidence) --evidence_;
  cases_.erase(it);
  return evidence;
}

bool Rescue::accepts(std::uint32_t g, const PeerId& sender) const {
  const auto it = cases_.find(g);
  if (it == cases_.end()) return true;
  if (it->second.only) return *it->second.only == sender;
  return !(it->second.excluded && *it->second.excluded == sender);
}

void Rescue::progressed(std::uint32_t g, TimeUs now) {
  const auto it = cases_.find(g);
  if (it != cases_.end()) it->second.last_progress = now;
}

std::vector<std::uint32_t> Rescue::review(const Holders& holders, TimeUs now) {
  std::vector<std::uint32_t> changed;
  for (auto& [g, c] : cases_) {
    if (c.lifted || now - c.last_progress < policy::kRescueTime) continue;
    ++c.attempt;
    choose(c, g, holders, now);
    changed.push_back(g);
  }
  return changed;
}

TimeUs Rescue::next_review() const {
  TimeUs at = kNever;
  for (const auto& [g, c] : cases_) {
    if (!c.lifted) at = std::min(at, c.last_progress + policy::kRescueTime);
  }
  return at;
}

}  // namespace firn::core
