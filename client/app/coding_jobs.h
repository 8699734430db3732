// The data plane of one content: performs the core's StoreRow, SendBlock, Decode, DropRows,
// KeepEvidence, CheckEvidence and ContentComplete with the worker pool, the store and the codec.
//
//   core's actions --> CodingJobs --> tasks, in order per generation --> CodingOutcomes --> core
//
// Threads: one owner thread; tasks get copies (references) of what they need and hand their results
// back as completions.
//
// Memory: rows in memory stay below `row_bytes_max` as far as the disk can follow; blocks being
// made, and generations being loaded or decoded, are bounded by what the core has under way.
//
// A disk that takes nothing (full, read-only, vanished) pauses: what failed is kept and tried again
// every two seconds, everything else that writes waits behind it in order, nothing is lost. Tasks
// that were with the pool when one failed do not overtake it (DiskTask::turn).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "client/app/backends/batch_coder.h"
#include "client/app/buffer_pool.h"
#include "client/app/coding/row_table.h"
#include "client/app/coding_work.h"
#include "client/app/generation_cache.h"
#include "client/app/loop_budget.h"
#include "client/app/worker_pool.h"
#include "client/core/actions.h"
#include "client/core/swarm.h"
#include "client/store/content_store.h"
#include "codec/kernels.h"

namespace firn::app {

// Who hears how things went; called on the owner thread, from within CodingJobs' members.
class CodingOutcomes {
 public:
  virtual ~CodingOutcomes() = default;
  virtual void row_stored(std::uint32_t generation, std::uint32_t slot) = 0;
  virtual void generation_decoded(std::uint32_t generation, core::DecodeOutcome outcome) = 0;
  virtual void evidence_checked(std::uint32_t generation, const std::vector<PeerId>& guilty) = 0;
  // An empty payload: the block could not be made.
  virtual void block_made(std::uint64_t ticket, proto::Payload payload) = 0;
  // The same, with another coding vector than the one in the order, which allowed it.
  virtual void exchanged_block_made(std::uint64_t ticket, std::vector<std::uint8_t> vector,
                                    proto::Payload payload) = 0;
  // `fetch_again`: it is to be fetched and decoded once more; else its files are left as they are.
  virtual void generation_lost(std::uint32_t generation, const Error& error, bool fetch_again) = 0;
  // One that was lost and left alone can be read again, and is right.
  virtual void generation_regained(std::uint32_t generation) = 0;
  virtual void store_warning(const std::string& text) = 0;
  virtual void store_paused(const Error& error) = 0;
  virtual void store_resumed() = 0;
  virtual void store_finished() = 0;
  // Instead: everything is done but for files that were changed under their final names.
  virtual void store_spoiled(const Error& error) = 0;
};

// What all contents of a process share.
struct CodingResources {
  WorkerPool& pool;
  BufferPool& buffers;
  GenerationCache& cache;
  const codec::Kernels& kernels;
  LoopBudget& loop_budget;
  BatchCoder* coder = nullptr;  // null: the workers do all coding
};

class CodingJobs {
 public:
  static constexpr std::size_t kRoomyCache = 8;     // generations, see send_block
  static constexpr std::size_t kBlocksAtOnce = 64;  // in one job
  static constexpr core::TimeUs kRetryInterval = 2 * core::kSecond;
  // Of a generation, at that interval; then it is not served until it can be read.
  static constexpr unsigned kReadTries = 5;
  static constexpr core::TimeUs kSyncInterval = 5 * core::kSecond;

  // `number`: of this content within the process. `resumed`: generations with rows in the spool.
  CodingJobs(const CodingResources& resources, std::uint32_t number,
             std::shared_ptr<store::ContentStore> store, std::size_t row_bytes_max,
             const std::vector<std::uint32_t>& resumed, CodingOutcomes& outcomes);
  ~CodingJobs();

  void store_row(const core::StoreRow& action, core::TimeUs now);
  // Answered by block_made(ticket) or exchanged_block_made(ticket), perhaps before this returns.
  void send_block(std::uint64_t ticket, core::SendBlock action, core::TimeUs now);
  void decode(core::Decode action, core::TimeUs now);
  void drop_rows(std::uint32_t generation);
  void keep_evidence(core::KeepEvidence action, core::TimeUs now);
  void check_evidence(std::uint32_t generation);
  void finish();

  // All generations are verified and will be asked for more or less in sequence: read ahead.
  void serve_everything() { serves_everything_ = true; }

  // A verified generation was read and is not right: it is lost, as if sending had found that out.
  // False: a block of it is being made; ask again later.
  bool found_false(std::uint32_t generation, const Error& error);

  // After a batch of the above: starts the jobs that were gathered. Small ones are done when it
  // returns (loop_budget.h).
  void flush();

  void wake(core::TimeUs now);
  core::TimeUs next_wake() const;

  // Spools every row that waits and makes all durable; then `done` is called (also if the disk
  // takes nothing: with what can be done). Nothing else may be asked for afterwards.
  void close(core::TimeUs now, std::function<void()> done);

 private:
  // A task that writes, in a form that can be tried again.
  struct DiskTask {
    WorkerPool::Key key = WorkerPool::kUnordered;
    std::function<Result<bool>()> work;  // on a worker; whether the disk took something
    std::function<void()> done;          // on the owner thread, after success
    bool progress = true;                // wrote something that a sync makes durable
    std::uint64_t turn = 0;              // disk_turn_ when it was started
  };
  struct Sending {
    std::vector<BlockOrder> waiting;
    bool under_way = false;  // or waits to be read again
    unsigned failures = 0;   // to read it, one after the other
  };
  struct DecodeJob {
    core::Decode action;
    std::vector<RowRef> rows;
    bool unreadable = false;       // or lacking rank: nothing to decode
    std::shared_ptr<Buffer> data;  // once decoded
    bool checked = false;          // a second try only writes
    core::DecodeOutcome outcome = core::DecodeOutcome::kFailed;
    bool drop_spooled = false;
  };
  // Coded blocks of a verified generation, made ahead of demand (device_jobs.cc).
  struct Stock {
    std::deque<CodedPayload> blocks;
    std::deque<BlockOrder> waiting;
    bool under_way = false;  // more are being made
    std::uint64_t used = 0;
  };

  WorkerPool::Key key_of(std::uint32_t generation) const;
  CodingShape shape_of(std::uint32_t generation) const;
  void submit(WorkerPool::Key key, WorkerPool::Task task);
  void make_blocks(std::uint32_t generation, std::uint64_t multiply_adds, bool at_hand,
                   WorkerPool::Task task);
  void submit_disk(DiskTask task);
  void start_disk(std::shared_ptr<DiskTask> task);
  void disk_failed(std::shared_ptr<DiskTask> task, const Error& error);
  void disk_overtook(std::shared_ptr<DiskTask> task);
  void disk_succeeded(bool progress, bool taken);
  void probe_disk();
  void drain_backlog();

  bool send_from_cache(const BlockOrder& order, std::uint32_t generation);
  void start_sending(std::uint32_t generation, Sending& sending);
  void start_sending_verified(std::uint32_t generation, std::vector<BlockOrder> orders);
  void start_recoding(std::uint32_t generation, std::vector<BlockOrder> orders);
  void sent(std::uint32_t generation, const std::vector<BlockOrder>& orders,
            std::vector<proto::Payload>& blocks);
  void fetch_ahead(std::uint32_t generation);
  bool read_again_later(std::uint32_t generation, const Error& error,
                        std::vector<BlockOrder>& orders);
  void read_again();
  void lose(std::uint32_t generation, const Error& error, std::vector<BlockOrder> orders);
  void lost(std::uint32_t generation, const Error& error, bool fetch_again,
            std::vector<BlockOrder>& orders);
  void tell_news();
  void probe_unreadable();
  void probed_unreadable(const std::vector<std::uint32_t>& left,
                         const std::vector<std::uint32_t>& regained);

  void spool(core::TimeUs now, bool all);
  void spool_batch(SpoolBatch batch);
  void report_stored(std::uint32_t generation, const std::vector<std::uint32_t>& slots);
  void write_decoded(std::shared_ptr<DecodeJob> job);
  void decoded(const std::shared_ptr<DecodeJob>& job);

  bool decodes_in_batches(const DecodeJob& job) const;
  void decode_in_batch(std::shared_ptr<DecodeJob> job);
  void hand_to_coder(std::shared_ptr<DecodeJob> job);
  bool send_from_stock(BlockOrder& order, std::uint32_t generation);
  void serve_from_stock(std::uint32_t generation, Stock& stock);
  std::size_t stock_rows() const;
  void refill(std::uint32_t generation, Stock& stock);
  void send_without_stock(std::uint32_t generation, Stock& stock);
  void refilled(std::uint32_t generation, std::vector<CodedPayload> blocks);
  void trim_stocks(std::uint32_t keep);
  void drop_stock(std::uint32_t generation);
  void sync();

  const CodingResources resources_;
  const std::uint32_t number_;
  const std::shared_ptr<store::ContentStore> store_;
  const CodingShape shape_;  // of a full generation
  CodingOutcomes& outcomes_;
  // Completions that come after this object is gone must find that out.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  RowTable rows_;
  bool row_memory_stuck_ = false;  // nothing can be evicted until something is spooled
  std::unordered_map<std::uint32_t, Sending> sending_;
  std::vector<std::uint32_t> sending_changed_;
  std::vector<std::uint32_t> unread_;  // generations to read again at read_again_at_
  core::TimeUs read_again_at_ = core::kNever;
  std::vector<std::uint32_t> unreadable_;  // lost, but perhaps not for ever
  bool probing_unreadable_ = false;
  core::TimeUs probe_wait_ = kRetryInterval;
  core::TimeUs probe_at_ = core::kNever;
  bool serves_everything_ = false;
  std::uint32_t last_served_ = UINT32_MAX;
  std::optional<std::uint32_t> front_served_;  // the highest generation served so far
  std::set<std::uint32_t> fetching_;           // ahead
  std::unordered_map<std::uint32_t, std::shared_ptr<Evidence>> evidence_;
  std::unordered_map<std::uint32_t, Stock> stocks_;
  std::size_t stock_bytes_ = 0;
  std::uint64_t stock_uses_ = 0;
  struct Backlog {
    WorkerPool::Key key;
    WorkerPool::Task task;
  };
  std::deque<Backlog> backlog_;  // what the pool had no room for

  // When a task fails, workers leave the others of its turn alone, and the next turn begins here:
  // a generation's rows written before the drop that failed is tried again would be lost.
  std::uint64_t disk_turn_ = 1;
  const std::shared_ptr<std::atomic<std::uint64_t>> failed_turn_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  bool paused_ = false;
  bool probing_ = false;  // one parked task is being tried
  std::deque<std::shared_ptr<DiskTask>> parked_;
  core::TimeUs retry_at_ = core::kNever;
  std::uint64_t writes_ = 0, writes_synced_ = 0;
  core::TimeUs sync_at_ = core::kNever;
  bool finishing_ = false;     // finish() is with the pool, or parked
  bool finish_again_ = false;  // and was asked for once more
  core::TimeUs now_ = 0;

  std::size_t disk_tasks_ = 0;  // submitted or parked
  std::function<void()> closed_;
  void check_closed();
};

}  // namespace firn::app
