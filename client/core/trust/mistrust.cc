#include "client/core/trust/mistrust.h"

#include <algorithm>

#include "client/core/base/constants.h"
#include "client/core/trust/check_review.h"

namespace firn::core::trust {

constexpr TimeUs kMistrustTimeSure = 30 * kSecond;  // by a maker that has told the truth before
constexpr std::uint32_t kMistrustDoublings = 5;

// The one that has been left in peace the longest makes room.
Mistrust::Record& Mistrust::record_of(const PeerId& id) {
  if (!records_.contains(id) && records_.size() == kOffendersKept) {
    records_.erase(std::min_element(
        records_.begin(), records_.end(),
        [](const auto& a, const auto& b) { return a.second.since < b.second.since; }));
  }
  return records_[id];
}

void Mistrust::apply(const Neighbour* n, const Record& record) {
  if (!n) return;
  if (regards_.of(*n).mistrusted && record.until == 0) ended_.push_back(n->key);
  regards_.note(*n, &Regards::Facts::mistrusted, record.until > 0);
  regards_.note(*n, &Regards::Facts::was_mistrusted, record.times > 0);
}

void Mistrust::greeted(const Neighbour& n) {
  const auto known = records_.find(n.id);
  if (known != records_.end()) apply(&n, known->second);
}

void Mistrust::add(const Neighbour& n, const PeerId& maker, bool truthful) {
  Record& record = record_of(n.id);
  if (record.until > 0 || (!truthful && record.by_unsure)) return;
  if (world_.context.now - record.since >= kOffenceMemory) record.times = 0;
  const std::uint32_t doublings = std::min(record.times++, kMistrustDoublings);
  const TimeUs time = truthful ? kMistrustTimeSure : kMistrustTime;
  record.by_unsure |= !truthful;
  record.maker = maker;
  record.since = world_.context.now;
  record.until = world_.context.now + (time << doublings);
  apply(&n, record);
}

void Mistrust::found_truthful(const PeerId& maker) {
  for (auto& [id, record] : records_) {
    if (record.until == 0 || record.maker != maker) continue;
    record.until = std::max(record.until, world_.context.now + kMistrustTimeSure);
  }
}

void Mistrust::found_lying(const PeerId& maker) {
  for (auto& [id, record] : records_) {
    if (record.maker != maker) continue;
    record.until = record.times = 0;
    apply(world_.neighbours.find(id), record);
  }
}

// Since when nothing has come: those that are mistrusted may be all that there is.
TimeUs Mistrust::starves_at() const {
  return world_.life.complete() ? kNever : world_.life.progressed_at() + kStarvingTime;
}

void Mistrust::step() {
  const bool starves = starves_at() <= world_.context.now;
  for (auto& [id, record] : records_) {
    if (record.until == 0) continue;
    const bool since_then = record.since + kStarvingTime <= world_.context.now;
    if (record.until > world_.context.now && !(starves && since_then)) continue;
    record.until = 0;
    apply(world_.neighbours.find(id), record);
  }
}

TimeUs Mistrust::next_due() const {
  TimeUs at = kNever;
  for (const auto& [id, record] : records_) {
    if (record.until == 0) continue;
    const TimeUs starves = std::max(starves_at(), record.since + kStarvingTime);
    at = std::min({at, record.until, starves_at() == kNever ? kNever : starves});
  }
  return at;
}

}  // namespace firn::core::trust
