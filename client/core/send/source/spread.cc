#include "client/core/send/source/spread.h"

#include <algorithm>
#include <utility>

#include "client/core/mesh/predecessors.h"
#include "client/core/send/source/source_policy.h"
#include "codec/encode.h"

namespace firn::core {

// A source keeps one row of each neighbour per kSpreadSample, for kSpreadMemory, and at most
// kSpreadRowsMax of a generation. It does not count a reporter that was asked about fewer than
// kGivenMin rows, nor a null vector that lets less than kSpreadTelling of them through.
constexpr TimeUs kSpreadSample = 100 * kMillisecond;
constexpr TimeUs kSpreadMemory = 30 * kSecond;
constexpr std::size_t kSpreadRowsMax = 256;
constexpr double kSpreadTelling = 0.125;
constexpr double kSpreadReporters = 64;  // of those that have called, about. Costs memory and CPU
// In a large mesh a source passes over a neighbour that kAccusersMin reporters or more convict, if
// they are kAccusersShare of those asked. Less: a few liars
// can accuse; more: polluters stay.
constexpr double kAccusersMin = 2;
constexpr double kAccusersShare = 0.5;

Spread::Spread(const Context& context, Membership& membership)
    : context_(context), membership_(membership) {}

// A part of the rows is enough where there are many.
bool Spread::sent(const proto::Block& block, const Neighbour& to) {
  if (membership_.small_mesh()) return false;
  const auto [last, first] = kept_at_.try_emplace(to.key, context_.now);
  if (!first && context_.now - last->second < kSpreadSample) return false;
  last->second = context_.now;
  std::vector<SentRow>& rows = rows_[block.generation];
  if (rows.size() == kSpreadRowsMax) return false;
  rows.push_back({to.key, context_.now, block.source_index, block.coefficients});
  return true;
}

// Where there are many neighbours, a part of them by chance is asked besides those that this peer
// has called: each is told of every other's rows.
bool Spread::asks(const Neighbour& by) const {
  if (by.contact.outgoing()) return true;
  const auto size = static_cast<double>(membership_.neighbours().size());
  const std::uint64_t drawn = (by.id.prefix() ^ context_.options.seed) * 0x9e3779b97f4a7c15;
  return static_cast<double>(drawn) * 0x1p-64 * size < kSpreadReporters;
}

bool Spread::asked_about(const SentRow& row, const Neighbour& by, TimeUs age_max) const {
  const TimeUs age = context_.now - row.at;
  return row.to != by.key && age >= kSpreadTime && age <= age_max;
}

// Each of the mixtures that the sender of a null vector z lacks may have all rows in it. Then z.v
// is 0 for hardly any row v, and the source cannot learn from z which neighbour passes nothing on.
template <typename Through>
bool Spread::tells_apart(const Neighbour& by, const std::vector<SentRow>& rows,
                         Through&& through) const {
  std::size_t asked = 0, came = 0;
  for (const SentRow& row : rows) {
    if (!asked_about(row, by, kSpreadMemory)) continue;
    ++asked;
    came += through(row) ? 1 : 0;
  }
  return static_cast<double>(came) >= kSpreadTelling * static_cast<double>(asked);
}

template <typename Through>
void Spread::count(const Neighbour& by, const std::vector<SentRow>& rows, TimeUs age_max,
                   Through&& through) {
  told_at_[by.key] = context_.now;
  for (const SentRow& row : rows) {
    if (!asked_about(row, by, age_max)) continue;
    Told& told = told_[row.to][by.key];
    ++told.rows;
    told.through += through(row) ? 1 : 0;
  }
}

void Spread::told(const Neighbour& by, const proto::State& state) {
  if (rows_.empty() || by.holds.has_everything() || !asks(by)) return;
  for (const proto::GenerationState& one : state.generations) {
    const std::vector<std::uint8_t>& z = one.null_vector;
    const auto rows = rows_.find(one.generation);
    const std::vector<std::uint8_t>& held = one.held_blocks;
    if (!held.empty() && rows != rows_.end()) {
      count(by, rows->second, kSpreadRecent, [&held](const SentRow& row) {
        const std::uint32_t i = row.source_index.value_or(UINT32_MAX);
        return i / 8 < held.size() && has_block(held, i);
      });
    }
    if (z.empty() || rows == rows_.end()) continue;
    if (std::all_of(z.begin(), z.end(), [](std::uint8_t c) { return c == 0; })) continue;
    const auto through = [&z](const SentRow& row) {
      if (row.source_index) return *row.source_index < z.size() && z[*row.source_index] == 0;
      return row.vector.size() == z.size() && codec::dot(row.vector, z) == 0;
    };
    if (!tells_apart(by, rows->second, through)) continue;
    count(by, rows->second, kSpreadMemory, through);
  }
  // A whole generation speaks of rows of late alone: what a sink was given is given to others
  // again, so that all of a generation comes through in the end.
  // Once: a reporter that says it again and again says nothing new.
  for (const proto::Span& span : state.complete) {
    for (auto rows = rows_.lower_bound(span.first);
         rows != rows_.end() && rows->first - span.first < span.count; ++rows) {
      if (by.holds.complete().contains(rows->first)) continue;
      count(by, rows->second, kSpreadRecent, [](const SentRow&) { return true; });
    }
  }
}

void Spread::neighbour_left(const Neighbour& n) {
  kept_at_.erase(n.key);
  told_.erase(n.key);
  told_at_.erase(n.key);
  for (auto& [peer, reporters] : told_) reporters.erase(n.key);
}

void Spread::forget(double kept) {
  for (auto& [peer, reporters] : told_) {
    for (auto& [reporter, told] : reporters) {
      told.rows *= kept;
      told.through *= kept;
    }
  }
  std::erase_if(rows_, [this](const auto& generation) {
    return context_.now - generation.second.back().at > kSpreadMemory;
  });
}

// Those that this peer has called are asked where there are enough of them: hostile ones that
// gather at a source have called it. Nobody is asked whose worth is low.
std::optional<double> Spread::share(const Neighbour& of) const {
  const auto reporters = told_.find(of.key);
  if (reporters == told_.end()) return std::nullopt;
  std::vector<Said> called, all;
  for (const auto& [key, told] : reporters->second) {
    const Neighbour* reporter = membership_.find(key);
    if (!reporter || reporter->low_worth() || told.rows < kGivenMin) continue;
    all.push_back({told.through / told.rows, voices_.weight(key)});
    if (reporter->contact.outgoing()) called.push_back(all.back());
  }
  std::vector<Said>& shares = called.size() < kReportersMin ? all : called;
  if (shares.size() < kReportersMin) return std::nullopt;
  return reached_by(shares, kReportersShare);
}

// --- what rows are worth ---

// The word of neighbours counts that this peer has called: of these no more are hostile than of the
// swarm.
Spread::Asked Spread::ask() const {
  Asked asked;
  const Neighbours& neighbours = std::as_const(membership_).neighbours();
  for (const PeerKey key : neighbours.called()) {
    const Neighbour* n = neighbours.find(key);
    if (!n->holds.has_everything()) asked.push_back(n);
  }
  return asked;
}

// Polluters that all others have banned gather at the source.
double Spread::hearsay(const Neighbour& of, const Asked& asked) const {
  double others = 0, accusers = 0;
  for (const Neighbour* n : asked) {
    if (n->key == of.key) continue;
    others += voices_.weight(n->key);
    if (n->reports.convicts(of.id.prefix())) accusers += voices_.weight(n->key);
  }
  const bool many = accusers >= kAccusersShare * others;
  if (accusers >= kAccusersMin && many) return kWorthMin;
  return accusers > 0 ? kAccusedWorth : 1;
}

bool Spread::review() {
  std::vector<const Neighbour*> reporters;
  for (const auto& [key, at] : told_at_) {
    const Neighbour* n = membership_.find(key);
    const bool lately = context_.now - at < 2 * kContributionMemory;
    if (n && lately && !n->low_worth()) reporters.push_back(n);
  }
  voices_.review(reporters);
  std::vector<Said> known;
  std::map<PeerKey, double> shares;
  for (const Neighbour& n : std::as_const(membership_).neighbours()) {
    if (n.holds.has_everything()) continue;
    const auto came = share(n);
    if (!came) continue;
    known.push_back({*came});
    shares.emplace(n.key, *came);
  }
  // Up to three quarters of the neighbours may be sinks.
  const double usual = known.empty() ? 0 : reached_by(known, kUsualShare);
  bool found = false;
  const Asked asked = ask();
  for (Neighbour& n : membership_.neighbours()) {
    const bool was_sink = n.sink();
    const auto came = shares.find(n.key);
    n.worth = hearsay(n, asked);
    if (n.worth > kWorthMin && came != shares.end() && usual > 0)
      n.worth = policy::worth_of(came->second, usual);
    found |= n.sink() && !was_sink;
  }
  return found;
}

}  // namespace firn::core
