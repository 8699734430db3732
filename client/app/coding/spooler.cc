#include "client/app/coding/spooler.h"

#include <utility>

#include "client/app/coding/kept_standing.h"

namespace firn::app {

Spooler::Spooler(std::shared_ptr<const CodedContent> content, DiskQueue& disk,
                 const TurnClock& clock, CodingOutcomes& outcomes, std::size_t row_bytes_max,
                 const std::vector<std::uint32_t>& resumed)
    : content_(std::move(content)),
      disk_(disk),
      clock_(clock),
      outcomes_(outcomes),
      rows_(row_bytes_max) {
  for (std::uint32_t generation : resumed) rows_.mark_on_disk(generation);
}

void Spooler::store(const core::StoreRow& row) {
  rows_.store(row, clock_.now());
  if (!rows_.memory_short() || memory_stuck_) return;
  if (rows_.make_room()) return;
  memory_stuck_ = spool(true);
}

void Spooler::wake() {
  if (rows_.next_due() <= clock_.now()) spool(false);
}

bool Spooler::spool(bool all) {
  std::vector<SpoolBatch> due = rows_.take_due(clock_.now(), all);
  for (SpoolBatch& batch : due) spool_batch(std::move(batch));
  return !due.empty();
}

void Spooler::spool_batch(SpoolBatch batch) {
  auto shared = std::make_shared<SpoolBatch>(std::move(batch));
  auto written = std::make_shared<std::size_t>(0);  // where to go on after a failure
  DiskQueue::Task task;
  task.key = content_->key_of(shared->generation);
  task.work = [content = content_, shared, written]() -> Result<bool> {
    for (; *written < shared->rows.size(); ++*written) {
      if (shared->life->spooling_cancelled) break;
      const RowToSpool& row = shared->rows[*written];
      const store::SpooledRow spooled{shared->generation, row.slot, *row.vector, row.sender,
                                      kept_standing(row.standing)};
      Status status = content->store().write_row(spooled, row.payload.bytes());
      if (!status.ok()) return status.error();
    }
    return *written > 0;
  };
  task.done = [this, shared] {
    RowTable::Spooled spooled = rows_.spooled(*shared);
    report_stored(shared->generation, spooled.slots);
    mark_in_spool(shared->generation, std::move(spooled.proven));
    memory_stuck_ = false;
    if (rows_.memory_short()) rows_.make_room();
  };
  disk_.submit(std::move(task));
}

// A help for a later run alone: what cannot be marked holds up nothing.
void Spooler::mark_in_spool(std::uint32_t generation, std::vector<std::uint32_t> slots) {
  if (slots.empty()) return;
  DiskQueue::Task task;
  task.key = content_->key_of(generation);
  task.work = [content = content_, generation, slots = std::move(slots)]() -> Result<bool> {
    bool marked = false;
    for (const std::uint32_t slot : slots)
      marked |= content->store().mark_proven(generation, slot).ok();
    return marked;
  };
  task.done = [] {};
  disk_.submit(std::move(task));
}

void Spooler::report_stored(std::uint32_t generation, const std::vector<std::uint32_t>& slots) {
  for (std::uint32_t slot : slots) outcomes_.row_stored(generation, slot);
}

void Spooler::drop(std::uint32_t generation) {
  const bool on_disk = rows_.touched_disk(generation);
  forget(generation);
  if (!on_disk) return;
  DiskQueue::Task task;
  task.key = content_->key_of(generation);
  task.work = [content = content_, generation]() -> Result<bool> {
    const Status status = content->store().drop_rows(generation);
    if (!status.ok()) return status.error();
    return true;
  };
  task.done = [] {};
  disk_.submit(std::move(task));
}

void Spooler::drop_slots(std::uint32_t generation, std::span<const std::uint32_t> slots) {
  report_stored(generation, rows_.drop(generation, slots));
}

void Spooler::forget(std::uint32_t generation) {
  report_stored(generation, rows_.drop(generation));
}

std::vector<RowRef> Spooler::find(std::uint32_t generation, std::span<const std::uint32_t> slots) {
  return rows_.find(generation, slots, clock_.now());
}

void Spooler::put_back(std::uint32_t generation, const std::vector<RowRef>& rows) {
  rows_.put_back(generation, rows, clock_.now());
}

Spooler::Claimed Spooler::claim(std::uint32_t generation) {
  rows_.cancel_spooling(generation, clock_.now());
  return {rows_.find_all(generation, content_->shape().blocks_in(generation), clock_.now()),
          rows_.touched_disk(generation)};
}

void Spooler::release(std::uint32_t generation) {
  rows_.restart_spooling(generation, clock_.now());
}

}  // namespace firn::app
