// The data plane of one content: performs what the core decides about rows, blocks and generations
// with the worker pool, the store and the codec, and tells how it went.
//
//   StoreRow, DropRows, MarkProven, DoubtRows --> Spooler -+
//   Decode, fetched ---> GenerationDecoder ----------------+--> DiskQueue --> Durability
//   ContentComplete ---------------------------------------+    (sync, finish, close)
//   JudgeRows --> RowJudge
//   MakeCheck --> CheckMaker
//   MakeLeaves --> LeafMaker
//   SendBlock --> BlockMaker --> ReadAhead, Stock, LostGenerations
//   what is served, once through --> BackgroundCheck --> BlockMaker
//
// Each part owns its state and its timer; this class wires them. Results come back in the order in
// which tasks end: tasks of one generation run in the order in which they were asked for. Small
// ones are done at once, if nothing of their generation is under way.
//
// Threads: one owner thread. Tasks hold the CodedContent and copies of what else they need, and
// hand their results back as completions.
//
// Memory: rows in memory stay below `row_bytes_max` as far as the disk can follow; blocks being
// made, and generations being loaded or decoded, are bounded by what the core has under way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/app/coding/background_check.h"
#include "client/app/coding/block_maker.h"
#include "client/app/coding/check_maker.h"
#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/disk_queue.h"
#include "client/app/coding/durability.h"
#include "client/app/coding/generation_decoder.h"
#include "client/app/coding/leaf_maker.h"
#include "client/app/coding/lost_generations.h"
#include "client/app/coding/row_judge.h"
#include "client/app/coding/spooler.h"
#include "client/app/coding/stock.h"
#include "client/app/coding/task_line.h"
#include "client/app/coding/turn_clock.h"
#include "client/core/base/actions.h"

namespace firn::app {

class DataPlane final : private DiskEvents {
 public:
  // `number`: of this content within the process. `resumed`: generations with rows in the spool.
  DataPlane(const CodingResources& lent, std::uint32_t number,
            std::shared_ptr<store::ContentStore> store, std::size_t row_bytes_max,
            const std::vector<std::uint32_t>& resumed, CodingOutcomes& outcomes);

  void store_row(const core::StoreRow& action, core::TimeUs now);
  void mark_proven(const core::MarkProven& action);
  void doubt_rows();
  // Answered by block_made(ticket) or exchanged_block_made(ticket), perhaps before this returns.
  void send_block(std::uint64_t ticket, const BlockWanted& wanted, core::TimeUs now);
  void decode(core::Decode action, core::TimeUs now);
  // A generation that an origin sent, in a buffer of take_buffer(); answered by generation_fetched.
  void take_fetched(std::uint32_t generation, std::shared_ptr<Buffer> data, core::TimeUs now);
  std::shared_ptr<Buffer> take_buffer(std::uint32_t generation) const {
    return content_->take_buffer(generation);
  }
  void drop_rows(std::uint32_t generation);
  void drop_slots(const core::DropSlots& action);
  void judge_rows(core::JudgeRows action, core::TimeUs now);
  void make_check(const core::MakeCheck& action);
  void make_leaves(const core::MakeLeaves& action);
  void finish();
  // As ContentStore::choose(). No finish() before it counts any more.
  void choose(std::vector<bool> chosen);

  // A verified generation that a reader found changed or gone: answered by generation_lost. False:
  // it is in use, and to be lost later if it still cannot be read.
  bool lose(std::uint32_t generation, const Error& error);

  // All generations are verified and will be asked for more or less in sequence: read ahead.
  void serve_everything();
  // Reads these generations, a flag for each, once, in the background, for changes on the disk;
  // until close().
  void check_in_background(std::vector<bool> held);
  // That has ended, and found nothing wrong.
  bool found_all_right() const { return check_ && check_->all_right(); }

  // After a batch of the above: starts the jobs that were gathered. Small ones are done before it
  // returns (runtime/loop_budget.h).
  void flush();

  void wake(core::TimeUs now);
  core::TimeUs next_wake() const;

  // Spools every row that waits and makes all durable; then `done` is called (also if the disk
  // takes nothing: with what can be done). Nothing else may be asked for afterwards.
  void close(core::TimeUs now, std::function<void()> done);

  // As the store's (ContentStore).
  std::string moved_to() const { return content_->store().moved_to(); }
  ServingCounts::Figures counts() const { return content_->counts().figures(); }

 private:
  void disk_paused(const Error& error) override;
  void disk_resumed() override;
  void disk_wrote() override;
  void disk_task_ended() override;

  CodingOutcomes& outcomes_;
  const std::shared_ptr<const CodedContent> content_;

  // In this order: what comes later uses what stands before it.
  TurnClock clock_;
  TaskLine tasks_;
  DiskQueue disk_;
  Durability durability_;
  Spooler rows_;
  GenerationDecoder decoder_;
  RowJudge judge_;
  CheckMaker check_maker_;
  LeafMaker leaf_maker_;
  Stock stock_;  // but for orders that it leaves to the maker
  LostGenerations losses_;
  BlockMaker maker_;
  std::optional<BackgroundCheck> check_;
};

}  // namespace firn::app
