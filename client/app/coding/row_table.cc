#include "client/app/coding/row_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace firn::app {

void RowTable::store(const core::StoreRow& row, core::TimeUs now) {
  Rows& rows = generations_[row.generation];
  rows.used = now;
  rows.began = std::min(rows.began, now);
  Row& held = rows.at(row.slot);
  bytes_ -= held.payload.size();
  if (held.state == State::kSpooled) rows.spooled_bytes -= held.payload.size();
  held = {State::kFresh, row.vector, row.sender, row.standing, row.payload};
  bytes_ += row.payload.size();
  note_block_bytes(row.payload.size());
  began_ = std::min(began_, now);
  count_arrival(now);
  if (!rows.life->spooling_cancelled) fresh_.push_back({row.generation, row.slot, now});
}

RowRef RowTable::find(std::uint32_t generation, std::uint32_t slot, core::TimeUs now) {
  return find(generation, {&slot, 1}, now)[0];
}

std::vector<RowRef> RowTable::find(std::uint32_t generation, std::span<const std::uint32_t> slots,
                                   core::TimeUs now) {
  std::vector<RowRef> found;
  found.reserve(slots.size());
  for (std::uint32_t slot : slots) found.push_back({slot, {}});
  const auto rows = generations_.find(generation);
  if (rows == generations_.end()) return found;
  rows->second.used = now;
  for (RowRef& ref : found) {
    if (const Row* row = rows->second.find(ref.slot)) ref.payload = row->payload;
  }
  return found;
}

std::vector<RowRef> RowTable::find_all(std::uint32_t generation, std::uint32_t n,
                                       core::TimeUs now) {
  std::vector<std::uint32_t> slots(n);
  std::iota(slots.begin(), slots.end(), 0u);
  return find(generation, slots, now);
}

void RowTable::put_back(std::uint32_t generation, const std::vector<RowRef>& rows,
                        core::TimeUs now) {
  const auto found = generations_.find(generation);
  if (found == generations_.end()) return;
  found->second.used = now;
  for (const RowRef& row : rows) {
    if (!row.payload || bytes_ + row.payload.size() > bytes_max_) continue;
    Row& entry = found->second.at(row.slot);
    if (entry.state != State::kAbsent) continue;
    entry.state = State::kSpooled;
    entry.payload = row.payload;
    bytes_ += row.payload.size();
    found->second.spooled_bytes += row.payload.size();
  }
}

void RowTable::cancel_spooling(std::uint32_t generation, core::TimeUs now) {
  Rows& rows = generations_[generation];
  rows.life->spooling_cancelled = true;
  forget_fresh(generation);
  if (rows.began == core::kNever) return;  // resumed, and nothing came since
  const core::TimeUs took = now - rows.began;
  whole_after_ = whole_after_ == 0 ? took : (7 * whole_after_ + took) / 8;
}

void RowTable::forget_fresh(std::uint32_t generation) {
  std::erase_if(fresh_, [&](const Fresh& fresh) { return fresh.generation == generation; });
}

void RowTable::restart_spooling(std::uint32_t generation, core::TimeUs now) {
  const auto found = generations_.find(generation);
  if (found == generations_.end() || !found->second.life->spooling_cancelled) return;
  found->second.life = std::make_shared<RowsLife>();
  std::vector<Row>& rows = found->second.by_slot;
  for (std::uint32_t slot = 0; slot < rows.size(); ++slot) {
    if (rows[slot].state == State::kAbsent || rows[slot].state == State::kSpooled) continue;
    rows[slot].state = State::kFresh;
    fresh_.push_back({generation, slot, now});
  }
}

std::vector<std::uint32_t> RowTable::drop(std::uint32_t generation) {
  std::vector<std::uint32_t> unreported;
  const auto found = generations_.find(generation);
  if (found == generations_.end()) return unreported;
  const std::vector<Row>& rows = found->second.by_slot;
  for (std::uint32_t slot = 0; slot < rows.size(); ++slot)
    if (rows[slot].state == State::kFresh || rows[slot].state == State::kWriting)
      unreported.push_back(slot);
  found->second.life->spooling_cancelled = true;
  forget_fresh(generation);
  erase_rows(found->second);
  generations_.erase(found);
  return unreported;
}

std::vector<std::uint32_t> RowTable::drop(std::uint32_t generation,
                                          std::span<const std::uint32_t> slots) {
  std::vector<std::uint32_t> unreported;
  const auto found = generations_.find(generation);
  if (found == generations_.end()) return unreported;
  Rows& rows = found->second;
  for (const std::uint32_t slot : slots) {
    Row* const row = rows.find(slot);
    if (!row) continue;
    if (row->state == State::kSpooled) {
      rows.spooled_bytes -= row->payload.size();
    } else {
      unreported.push_back(slot);
    }
    bytes_ -= row->payload.size();
    *row = {};
  }
  return unreported;
}

bool RowTable::touched_disk(std::uint32_t generation) const {
  const auto found = generations_.find(generation);
  return found != generations_.end() && found->second.on_disk;
}

// Grants stop where rows in memory near the bound (of the memory for data the core allows six
// sixteenths to rows that are not spooled, of which all windows together may want two; ours are
// seven, of which half may wait): fewer rows than kSpoolRows may be all there are.
void RowTable::note_block_bytes(std::size_t block_bytes) {
  const std::size_t rows_max = bytes_max_ / std::max<std::size_t>(block_bytes, 1);
  few_below_ = std::min(kSpoolRows, rows_max / 4);
  fresh_max_ = rows_max / 2;
}

void RowTable::count_arrival(core::TimeUs now) {
  if (window_began_ == core::kNever) window_began_ = now;
  if (now - window_began_ >= kSpoolRateWindow) {
    // A pause counts as such: the rate is that of the whole time since the window began.
    rows_per_window_ =
        static_cast<std::size_t>(window_rows_ * kSpoolRateWindow / (now - window_began_));
    window_began_ = now;
    window_rows_ = 0;
  }
  ++window_rows_;
}

// Fast enough to fill what may wait before the longest delay is over.
bool RowTable::rows_come_fast() const {
  return rows_per_window_ * (kSpoolDelayWhole / kSpoolRateWindow) >= fresh_max_;
}

core::TimeUs RowTable::spool_delay(core::TimeUs now) const {
  const core::TimeUs share =
      std::clamp((now - began_) / kSpoolDelayShare, kSpoolDelayMin, kSpoolDelayMax);
  if (rows_come_fast()) return std::max(share, kSpoolDelayWhole);
  const core::TimeUs whole = whole_after_ + whole_after_ / 2;
  return whole <= kSpoolDelayWhole ? std::max(share, whole) : share;
}

void RowTable::mark_on_disk(std::uint32_t generation) {
  generations_[generation].on_disk = true;
}

// With the row whose delay is over go those that have waited nearly as long: a job for each would
// cost more than its row. Where rows come faster than memory lets them wait, a quarter goes.
std::vector<SpoolBatch> RowTable::take_due(core::TimeUs now, bool all) {
  if (!all && next_due() > now) return {};
  Batches batches;
  const core::TimeUs taken_until = now - spool_delay(now) / 4 * 3;
  while (!fresh_.empty() && (all || fresh_.front().came <= taken_until)) {
    take(fresh_.front(), batches);
    fresh_.pop_front();
  }
  if (fresh_.size() > fresh_max_) take_of_youngest(fresh_.size() - fresh_max_ / 4 * 3, batches);
  std::vector<SpoolBatch> due;
  for (auto& [generation, batch] : batches) due.push_back(std::move(batch));
  return due;
}

void RowTable::take(const Fresh& fresh, Batches& batches) {
  Rows& rows = generations_.at(fresh.generation);
  Row* const row = rows.find(fresh.slot);
  // Stored twice, and taken with its first entry; perhaps it is not held any more.
  if (!row || row->state != State::kFresh) return;
  row->state = State::kWriting;
  row->mark_owed = false;
  rows.on_disk = true;
  SpoolBatch& batch = batches[fresh.generation];
  batch.generation = fresh.generation;
  batch.life = rows.life;
  batch.rows.push_back({fresh.slot, row->vector, row->sender, row->standing, row->payload});
}

// Of the generations with fewest rows, the oldest first. One that is nearly whole leaves memory
// soon in any case, and its rows need never be written.
void RowTable::take_of_youngest(std::size_t wanted, Batches& batches) {
  std::map<std::uint32_t, std::size_t> waiting;
  for (const Fresh& fresh : fresh_) ++waiting[fresh.generation];
  std::vector<std::pair<std::size_t, std::uint32_t>> by_rows;
  for (const auto& [generation, rows] : waiting)
    by_rows.emplace_back(generations_.at(generation).by_slot.size(), generation);
  std::sort(by_rows.begin(), by_rows.end());
  std::map<std::uint32_t, std::size_t> taken;
  for (const auto& [rows, generation] : by_rows) {
    taken[generation] = std::min(waiting[generation], wanted);
    wanted -= taken[generation];
    if (wanted == 0) break;
  }
  std::erase_if(fresh_, [&](const Fresh& fresh) {
    const auto left = taken.find(fresh.generation);
    if (left == taken.end() || left->second == 0) return false;
    --left->second;
    take(fresh, batches);
    return true;
  });
}

core::TimeUs RowTable::next_due() const {
  if (fresh_.empty()) return core::kNever;
  const core::TimeUs came = fresh_.front().came;
  if (fresh_.size() > fresh_max_) return came + kSpoolDelayMin;
  const core::TimeUs delay = spool_delay(came);
  return came + (fresh_.size() < few_below_ ? std::max(delay, kSpoolDelayFew) : delay);
}

RowTable::Spooled RowTable::spooled(const SpoolBatch& batch) {
  Spooled result;
  const auto found = generations_.find(batch.generation);
  // Cancelled: some rows of the batch may not have been written. What decodes or drops the
  // generation reports them.
  if (found == generations_.end() || found->second.life != batch.life ||
      batch.life->spooling_cancelled)
    return result;
  for (const RowToSpool& written : batch.rows) {
    Row* const row = found->second.find(written.slot);
    if (!row) continue;  // dropped since, and reported
    // Replaced since; the other row may be on its way to the spool as well.
    if (row->state != State::kWriting || row->vector != written.vector) continue;
    row->state = State::kSpooled;
    row->vector = nullptr;
    found->second.spooled_bytes += row->payload.size();
    result.slots.push_back(written.slot);
    if (std::exchange(row->mark_owed, false)) result.proven.push_back(written.slot);
  }
  return result;
}

// Of a row that is not here, or whose batch is written, nothing older can lie in its slot. While a
// batch is under way that may be so: it is not written if the generation is decoded meanwhile.
std::vector<std::uint32_t> RowTable::prove(std::uint32_t generation,
                                           std::span<const std::uint32_t> slots) {
  std::vector<std::uint32_t> in_spool;
  const auto found = generations_.find(generation);
  if (found == generations_.end()) return in_spool;
  for (const std::uint32_t slot : slots) {
    Row* const row = found->second.find(slot);
    if (row && row->standing != core::Standing::kProven) {
      row->standing = core::Standing::kProven;
      row->mark_owed = row->state == State::kWriting;
    }
    if (!row || row->state == State::kSpooled) in_spool.push_back(slot);
  }
  return in_spool;
}

std::vector<std::uint32_t> RowTable::doubt_all() {
  std::vector<std::uint32_t> on_disk;
  for (auto& [generation, rows] : generations_) {
    for (Row& row : rows.by_slot) {
      if (row.standing == core::Standing::kProven) row.standing = core::Standing::kUnanswered;
      row.mark_owed = false;
    }
    if (rows.on_disk) on_disk.push_back(generation);
  }
  std::sort(on_disk.begin(), on_disk.end());
  return on_disk;
}

bool RowTable::make_room() {
  while (bytes_ > bytes_max_) {
    Rows* oldest = nullptr;
    for (auto& [generation, rows] : generations_)
      if (rows.spooled_bytes > 0 && (oldest == nullptr || rows.used < oldest->used)) oldest = &rows;
    if (oldest == nullptr) return false;
    for (Row& row : oldest->by_slot) {
      if (row.state != State::kSpooled) continue;
      bytes_ -= row.payload.size();
      row = {};
    }
    oldest->spooled_bytes = 0;
  }
  return true;
}

void RowTable::erase_rows(Rows& rows) {
  for (const Row& row : rows.by_slot) bytes_ -= row.payload.size();
  rows.by_slot.clear();
  rows.spooled_bytes = 0;
}

}  // namespace firn::app
