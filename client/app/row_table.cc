#include "client/app/row_table.h"

#include <algorithm>
#include <map>

namespace firn::app {

void RowTable::store(const core::StoreRow& row, core::TimeUs now) {
  Rows& rows = generations_[row.generation];
  rows.used = now;
  Row& held = rows.by_slot[row.slot];
  bytes_ -= held.payload.size();
  if (held.state == State::kSpooled) rows.spooled_bytes -= held.payload.size();
  held = {State::kFresh, row.vector, row.sender, row.payload};
  bytes_ += row.payload.size();
  note_block_bytes(row.payload.size());
  if (!rows.life->spooling_cancelled)
    fresh_.push_back({row.generation, row.slot, rows.life, now + kSpoolDelay});
}

RowRef RowTable::find(std::uint32_t generation, std::uint32_t slot, core::TimeUs now) {
  const auto rows = generations_.find(generation);
  if (rows == generations_.end()) return {slot, {}};
  rows->second.used = now;
  const auto row = rows->second.by_slot.find(slot);
  if (row == rows->second.by_slot.end()) return {slot, {}};
  return {slot, row->second.payload};
}

std::vector<RowRef> RowTable::find_all(std::uint32_t generation, std::uint32_t n,
                                       core::TimeUs now) {
  std::vector<RowRef> rows;
  rows.reserve(n);
  for (std::uint32_t slot = 0; slot < n; ++slot) rows.push_back(find(generation, slot, now));
  return rows;
}

void RowTable::put_back(std::uint32_t generation, const std::vector<RowRef>& rows,
                        core::TimeUs now) {
  const auto found = generations_.find(generation);
  if (found == generations_.end()) return;
  found->second.used = now;
  for (const RowRef& row : rows) {
    if (!row.payload || bytes_ + row.payload.size() > bytes_max_) continue;
    const auto [entry, absent] = found->second.by_slot.try_emplace(row.slot);
    if (!absent) continue;
    entry->second.state = State::kSpooled;
    entry->second.payload = row.payload;
    bytes_ += row.payload.size();
    found->second.spooled_bytes += row.payload.size();
  }
}

void RowTable::cancel_spooling(std::uint32_t generation) {
  generations_[generation].life->spooling_cancelled = true;
}

void RowTable::restart_spooling(std::uint32_t generation, core::TimeUs now) {
  const auto found = generations_.find(generation);
  if (found == generations_.end() || !found->second.life->spooling_cancelled) return;
  found->second.life = std::make_shared<RowsLife>();
  for (auto& [slot, row] : found->second.by_slot) {
    if (row.state == State::kSpooled) continue;
    row.state = State::kFresh;
    fresh_.push_back({generation, slot, found->second.life, now + kSpoolDelay});
  }
}

std::vector<std::uint32_t> RowTable::drop(std::uint32_t generation) {
  std::vector<std::uint32_t> unreported;
  const auto found = generations_.find(generation);
  if (found == generations_.end()) return unreported;
  for (const auto& [slot, row] : found->second.by_slot)
    if (row.state != State::kSpooled) unreported.push_back(slot);
  found->second.life->spooling_cancelled = true;
  erase_rows(found->second);
  generations_.erase(found);
  std::sort(unreported.begin(), unreported.end());
  return unreported;
}

bool RowTable::touched_disk(std::uint32_t generation) const {
  const auto found = generations_.find(generation);
  return found != generations_.end() && found->second.on_disk;
}

// Grants stop where rows in memory near the bound: fewer rows than kSpoolRows may be all there are.
void RowTable::note_block_bytes(std::size_t block_bytes) {
  few_below_ = std::min(kSpoolRows, bytes_max_ / 4 / std::max<std::size_t>(block_bytes, 1));
}

void RowTable::mark_on_disk(std::uint32_t generation) {
  generations_[generation].on_disk = true;
}

std::vector<SpoolBatch> RowTable::take_due(core::TimeUs now, bool all) {
  std::map<std::uint32_t, SpoolBatch> batches;
  if (!all && next_due() > now) return {};
  while (!fresh_.empty() && (all || fresh_.front().due <= now)) {
    const Fresh next = std::move(fresh_.front());
    fresh_.pop_front();
    const auto life = next.life.lock();
    if (!life || life->spooling_cancelled) continue;
    Rows& rows = generations_.at(next.generation);
    Row& row = rows.by_slot.at(next.slot);
    if (row.state != State::kFresh) continue;  // stored twice, and taken with its first entry
    row.state = State::kWriting;
    rows.on_disk = true;
    SpoolBatch& batch = batches[next.generation];
    batch.generation = next.generation;
    batch.life = life;
    batch.rows.push_back({next.slot, row.vector, row.sender, row.payload});
  }
  std::vector<SpoolBatch> due;
  for (auto& [generation, batch] : batches) due.push_back(std::move(batch));
  return due;
}

core::TimeUs RowTable::next_due() const {
  if (fresh_.empty()) return core::kNever;
  const bool few = fresh_.size() < few_below_;
  return fresh_.front().due + (few ? kSpoolDelayFew - kSpoolDelay : 0);
}

std::vector<std::uint32_t> RowTable::spooled(const SpoolBatch& batch) {
  std::vector<std::uint32_t> slots;
  const auto found = generations_.find(batch.generation);
  // Cancelled: some rows of the batch may not have been written. What decodes or drops the
  // generation reports them.
  if (found == generations_.end() || found->second.life != batch.life ||
      batch.life->spooling_cancelled)
    return slots;
  for (const RowToSpool& written : batch.rows) {
    Row& row = found->second.by_slot.at(written.slot);
    if (row.state != State::kWriting) continue;  // replaced since
    row.state = State::kSpooled;
    row.vector = nullptr;
    found->second.spooled_bytes += row.payload.size();
    slots.push_back(written.slot);
  }
  return slots;
}

bool RowTable::make_room() {
  while (bytes_ > bytes_max_) {
    Rows* oldest = nullptr;
    for (auto& [generation, rows] : generations_)
      if (rows.spooled_bytes > 0 && (oldest == nullptr || rows.used < oldest->used)) oldest = &rows;
    if (oldest == nullptr) return false;
    std::erase_if(oldest->by_slot, [&](const auto& entry) {
      if (entry.second.state != State::kSpooled) return false;
      bytes_ -= entry.second.payload.size();
      return true;
    });
    oldest->spooled_bytes = 0;
  }
  return true;
}

void RowTable::erase_rows(Rows& rows) {
  for (const auto& [slot, row] : rows.by_slot) bytes_ -= row.payload.size();
  rows.by_slot.clear();
  rows.spooled_bytes = 0;
}

}  // namespace firn::app
