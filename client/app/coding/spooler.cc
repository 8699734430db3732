#include "client/app/coding/spooler.h"

#include <numeric>
#include <optional>
#include <string>
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
    mark_in_spool(shared->generation, std::move(spooled.proven), true);
    memory_stuck_ = false;
    if (rows_.memory_short()) rows_.make_room();
  };
  disk_.submit(std::move(task));
}

// Every slot: a row that has been dropped, or that the core did not take over from an earlier run,
// still lies there. Tasks of a generation keep their order, so this comes after the rows that are
// being written.
void Spooler::doubt_all() {
  for (const std::uint32_t generation : rows_.doubt_all()) {
    std::vector<std::uint32_t> slots(content_->shape().blocks_in(generation));
    std::iota(slots.begin(), slots.end(), 0u);
    mark_in_spool(generation, std::move(slots), false);
  }
}

// For a later run alone: what cannot be marked holds up nothing. A row that is not marked as proven
// is judged once more; one that stays marked may be false, and a person is told.
void Spooler::mark_in_spool(std::uint32_t generation, std::vector<std::uint32_t> slots,
                            bool proven) {
  if (slots.empty()) return;
  auto failure = std::make_shared<std::optional<Error>>();
  DiskQueue::Task task;
  task.key = content_->key_of(generation);
  task.work = [content = content_, generation, slots = std::move(slots), proven,
               failure]() -> Result<bool> {
    bool written = false;
    for (const std::uint32_t slot : slots) {
      const Result<bool> marked = content->store().set_proven(generation, slot, proven);
      if (!marked.ok()) *failure = marked.error();
      written |= marked.ok() && *marked;
    }
    return written;
  };
  task.done = [this, generation, proven, failure] {
    if (*failure && !proven) tell_not_doubted(generation, **failure);
  };
  disk_.submit(std::move(task));
}

void Spooler::tell_not_doubted(std::uint32_t generation, const Error& error) {
  if (std::exchange(told_not_doubted_, true)) return;
  outcomes_.store_warning(
      "an authority was found to lie, and blocks on disk that it had called true could not be "
      "marked as doubtful (generation " +
      std::to_string(generation) + ": " + error.message() +
      "); if this download is stopped and started again, it may pass on false blocks");
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
  task.frees = true;
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
