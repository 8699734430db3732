// Keeps the rows of one content's unfinished generations: in memory first, in the store's spool
// after a while or when memory is short (row_table.h).
//
// Memory: rows in memory stay below `row_bytes_max` as far as the disk can follow.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/disk_queue.h"
#include "client/app/coding/row_table.h"
#include "client/app/coding/turn_clock.h"
#include "client/core/base/actions.h"

namespace firn::app {

// Owner thread.
class Spooler {
 public:
  // `resumed`: generations with rows in the spool.
  Spooler(std::shared_ptr<const CodedContent> content, DiskQueue& disk, const TurnClock& clock,
          CodingOutcomes& outcomes, std::size_t row_bytes_max,
          const std::vector<std::uint32_t>& resumed);

  void store(const core::StoreRow& row);
  // The rows in these slots are proven: what the spool holds of them is marked so.
  void mark_proven(std::uint32_t generation, std::span<const std::uint32_t> slots) {
    mark_in_spool(generation, rows_.prove(generation, slots), true);
  }
  // No row is proven any more, in memory or in the spool.
  void doubt_all();
  // Forgets the generation's rows, in memory and in the spool.
  void drop(std::uint32_t generation);
  // Forgets the rows in these slots. What the spool holds of them stands there until the slots are
  // used again, or the generation is dropped or done: a run that finds it judges it once more.
  void drop_slots(std::uint32_t generation, std::span<const std::uint32_t> slots);
  // Spools every row that waits.
  void spool_all() { spool(true); }

  std::vector<RowRef> find(std::uint32_t generation, std::span<const std::uint32_t> slots);
  // Rows were read back from the spool for use: keeps them while there is room.
  void put_back(std::uint32_t generation, const std::vector<RowRef>& rows);

  // All rows of a generation that is being decoded. Rows that wait are not spooled meanwhile.
  struct Claimed {
    std::vector<RowRef> rows;
    bool on_disk = false;  // the spool may hold some of them
  };
  Claimed claim(std::uint32_t generation);
  // The decode did not work out: rows that wait are due for the spool again.
  void release(std::uint32_t generation);
  // The generation is decoded and written. What the spool holds of it is not touched.
  void forget(std::uint32_t generation);

  void wake();
  core::TimeUs next_wake() const { return rows_.next_due(); }

 private:
  bool spool(bool all);  // whether anything was to be written
  void spool_batch(SpoolBatch batch);
  void mark_in_spool(std::uint32_t generation, std::vector<std::uint32_t> slots, bool proven);
  void tell_not_doubted(std::uint32_t generation, const Error& error);
  void report_stored(std::uint32_t generation, const std::vector<std::uint32_t>& slots);

  const std::shared_ptr<const CodedContent> content_;
  DiskQueue& disk_;
  const TurnClock& clock_;
  CodingOutcomes& outcomes_;
  RowTable rows_;
  bool memory_stuck_ = false;      // nothing can be evicted until something is spooled
  bool told_not_doubted_ = false;  // once is enough
};

}  // namespace firn::app
