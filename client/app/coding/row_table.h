// Rows of unfinished generations: which are in memory, which wait to be spooled, and which must
// make room. Knows no disk: the spooler asks it what to write and tells it what was written.
//
//   fresh --(spool delay over, or memory short)--> writing --> spooled --(memory short)--> gone
//   from memory
//
// A generation that is decoded or dropped within that time never touches the disk. A row that is
// not in the table is in the spool (or was never there).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "client/app/coding/row_ref.h"
#include "client/core/base/actions.h"
#include "client/core/base/types.h"

namespace firn::app {

// The spool delay: how long a row waits for its generation to be decoded, and for others to be
// spooled with it. It is what a kill may lose, so it is a twentieth of the time since the first
// row: many kills of one download cost it about a twentieth more time. Not less than what makes a
// job worth while, though: more where few rows come. But where generations of late were whole soon
// after their first row, rows wait as long as that takes, and half as long again, up to a second,
// however short the download so far: spooling each of them a moment before it is needed no more was
// a third of all that was written (docs/lab/063). Where rows come so fast that they fill what may
// wait within that second, they wait for it, or until there is no more room (docs/lab/071).
inline constexpr core::TimeUs kSpoolDelayMin = 20 * core::kMillisecond;
inline constexpr core::TimeUs kSpoolDelayMax = 2 * core::kSecond;
inline constexpr core::TimeUs kSpoolDelayShare = 20;  // a twentieth
inline constexpr core::TimeUs kSpoolDelayFew = 250 * core::kMillisecond;
inline constexpr std::size_t kSpoolRows = 8;                     // fewer are few
inline constexpr core::TimeUs kSpoolDelayWhole = core::kSecond;  // longer is not soon
inline constexpr core::TimeUs kSpoolRateWindow = 50 * core::kMillisecond;

// One stay of a generation's rows, from the first row until they are dropped or decoded. Jobs under
// way hold it and look whether their work is still wanted.
struct RowsLife {
  std::atomic<bool> spooling_cancelled = false;
};

// A row on its way to the spool.
struct RowToSpool {
  std::uint32_t slot = 0;
  core::Vector vector;
  PeerId sender;
  core::Standing standing = core::Standing::kUnanswered;
  proto::Payload payload;
};
struct SpoolBatch {
  std::uint32_t generation = 0;
  std::shared_ptr<RowsLife> life;
  std::vector<RowToSpool> rows;
};

// One thread.
class RowTable {
 public:
  // Rows in memory should stay below `bytes_max`.
  explicit RowTable(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  void store(const core::StoreRow& row, core::TimeUs now);

  // The row in memory, or a RowRef without payload. Counts as a use of the generation.
  RowRef find(std::uint32_t generation, std::uint32_t slot, core::TimeUs now);
  std::vector<RowRef> find(std::uint32_t generation, std::span<const std::uint32_t> slots,
                           core::TimeUs now);
  // Slots 0..n-1.
  std::vector<RowRef> find_all(std::uint32_t generation, std::uint32_t n, core::TimeUs now);
  // Rows were read back from the spool for use: keeps them while there is room.
  void put_back(std::uint32_t generation, const std::vector<RowRef>& rows, core::TimeUs now);

  // No more writing for this generation: it is being decoded. Rows that wait stay in memory.
  void cancel_spooling(std::uint32_t generation, core::TimeUs now);
  // The decode did not work out: rows that wait are due for the spool again.
  void restart_spooling(std::uint32_t generation, core::TimeUs now);
  // Forgets the rows; returns the slots that never came to rest in the spool.
  std::vector<std::uint32_t> drop(std::uint32_t generation);
  // The same for these slots alone. What is being written of them still is.
  std::vector<std::uint32_t> drop(std::uint32_t generation, std::span<const std::uint32_t> slots);
  // Whether rows of this generation may be in the spool since the last drop.
  bool touched_disk(std::uint32_t generation) const;
  void mark_on_disk(std::uint32_t generation);

  // Rows that are due, as writing from now on. `all`: fresh ones too (memory is short, or we stop).
  // Where more wait than may, those go whose generations have come least far: they would wait
  // longest.
  std::vector<SpoolBatch> take_due(core::TimeUs now, bool all);
  core::TimeUs next_due() const;
  // A batch has been written. Its rows that are still wanted may be evicted from now on.
  struct Spooled {
    std::vector<std::uint32_t> slots;   // of those rows, to be reported
    std::vector<std::uint32_t> proven;  // of them: since the batch was taken, and not doubted since
  };
  Spooled spooled(const SpoolBatch& batch);

  // The rows in these slots are proven. Returns those that lie in the spool, which does not know it
  // yet; the others take it along when they go there.
  std::vector<std::uint32_t> prove(std::uint32_t generation, std::span<const std::uint32_t> slots);
  // No row is proven any more. Returns the generations of which the spool may hold some, or get
  // some from a batch under way, that are proven there.
  std::vector<std::uint32_t> doubt_all();

  // Frees spooled rows, oldest-used generation first, until memory is below the bound. False if
  // that was not enough: more must be spooled first.
  bool make_room();
  std::size_t bytes() const { return bytes_; }
  bool memory_short() const { return bytes_ > bytes_max_; }

 private:
  enum class State : std::uint8_t { kAbsent, kFresh, kWriting, kSpooled };
  struct Row {
    State state = State::kAbsent;
    core::Vector vector;
    PeerId sender;
    core::Standing standing = core::Standing::kUnanswered;
    proto::Payload payload;
    bool mark_owed = false;  // proven while it was being written: not what the spool gets
  };
  struct Rows {
    std::shared_ptr<RowsLife> life = std::make_shared<RowsLife>();
    std::vector<Row> by_slot;  // up to the last that has come
    core::TimeUs began = core::kNever;
    core::TimeUs used = 0;

    Row* find(std::uint32_t slot) {
      if (slot >= by_slot.size() || by_slot[slot].state == State::kAbsent) return nullptr;
      return &by_slot[slot];
    }
    Row& at(std::uint32_t slot) {
      if (slot >= by_slot.size()) by_slot.resize(slot + 1);
      return by_slot[slot];
    }
    bool on_disk = false;
    std::size_t spooled_bytes = 0;  // in memory too
  };
  struct Fresh {
    std::uint32_t generation;
    std::uint32_t slot;
    core::TimeUs came;
  };
  using Batches = std::map<std::uint32_t, SpoolBatch>;  // by generation
  void take(const Fresh& fresh, Batches& batches);
  void take_of_youngest(std::size_t wanted, Batches& batches);
  void erase_rows(Rows& rows);
  void forget_fresh(std::uint32_t generation);
  core::TimeUs spool_delay(core::TimeUs now) const;
  bool rows_come_fast() const;

  void note_block_bytes(std::size_t block_bytes);
  void count_arrival(core::TimeUs now);

  const std::size_t bytes_max_;
  std::size_t few_below_ = kSpoolRows;
  std::size_t fresh_max_ = kSpoolRows;  // more do not wait, however short their delay
  core::TimeUs began_ = core::kNever;   // the first row came
  core::TimeUs whole_after_ = 0;        // from a generation's first row to its last, of late
  core::TimeUs window_began_ = core::kNever;
  std::size_t window_rows_ = 0;  // that came since
  std::size_t rows_per_window_ = 0;
  std::size_t bytes_ = 0;
  std::unordered_map<std::uint32_t, Rows> generations_;
  std::deque<Fresh> fresh_;  // in order of arrival; of generations that are still spooled
};

}  // namespace firn::app
