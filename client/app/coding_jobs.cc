#include "client/app/coding_jobs.h"

#include <algorithm>

#include "proto/stage_times.h"

namespace firn::app {
namespace {

Result<bool> taken_or_error(const Status& status) {
  if (!status.ok()) return status.error();
  return true;
}

void raise(std::atomic<std::uint64_t>& value, std::uint64_t to) {
  std::uint64_t seen = value;
  while (seen < to && !value.compare_exchange_weak(seen, to)) {
  }
}

}  // namespace

CodingJobs::CodingJobs(const CodingResources& resources, std::uint32_t number,
                       std::shared_ptr<store::ContentStore> store, std::size_t row_bytes_max,
                       const std::vector<std::uint32_t>& resumed, CodingOutcomes& outcomes)
    : resources_(resources),
      number_(number),
      store_(std::move(store)),
      shape_{store_->manifest().info.shape.generation_size,
             store_->manifest().info.shape.block_bytes},
      outcomes_(outcomes),
      rows_(row_bytes_max) {
  for (std::uint32_t generation : resumed) rows_.mark_on_disk(generation);
  if (resources_.coder != nullptr)
    resources_.coder->prepare(shape_.generation_size, shape_.block_bytes);
}

CodingJobs::~CodingJobs() {
  *alive_ = false;
}

WorkerPool::Key CodingJobs::key_of(std::uint32_t generation) const {
  return (std::uint64_t{number_} + 1) << 32 | generation;
}

CodingShape CodingJobs::shape_of(std::uint32_t generation) const {
  const Shape& shape = store_->manifest().info.shape;
  return {shape.blocks_in(generation), shape.block_bytes};
}

// --- tasks ---

void CodingJobs::submit(WorkerPool::Key key, WorkerPool::Task task) {
  if (backlog_.empty() && resources_.pool.submit(key, std::move(task))) return;
  backlog_.push_back({key, std::move(task)});
}

void CodingJobs::drain_backlog() {
  while (!backlog_.empty() &&
         resources_.pool.submit(backlog_.front().key, std::move(backlog_.front().task)))
    backlog_.pop_front();
}

void CodingJobs::submit_disk(DiskTask task) {
  ++disk_tasks_;
  auto shared = std::make_shared<DiskTask>(std::move(task));
  if (paused_) {
    parked_.push_back(std::move(shared));
  } else {
    start_disk(std::move(shared));
  }
}

void CodingJobs::start_disk(std::shared_ptr<DiskTask> task) {
  const WorkerPool::Key key = task->key;
  task->turn = disk_turn_;
  submit(key,
         [this, alive = alive_, failed_turn = failed_turn_,
          task = std::move(task)]() -> WorkerPool::Completion {
           if (task->turn <= *failed_turn) {
             return [this, alive, task] {
               if (*alive) disk_overtook(task);
             };
           }
           const StageScope stage(Stage::kDiskWrite);  // what else it does has stages of its own
           Result<bool> taken = task->work();
           if (!taken.ok()) raise(*failed_turn, task->turn);
           return [this, alive, task, taken = std::move(taken)] {
             if (!*alive) return;
             if (!taken.ok()) return disk_failed(task, taken.error());
             --disk_tasks_;
             disk_succeeded(task->progress, *taken);
             task->done();
             check_closed();
           };
         });
}

void CodingJobs::disk_failed(std::shared_ptr<DiskTask> task, const Error& error) {
  probing_ = false;
  disk_turn_ = std::max(disk_turn_, task->turn + 1);
  // Tasks that were under way when the first one failed come back in their own order.
  parked_.push_back(std::move(task));
  if (!paused_) {
    paused_ = true;
    outcomes_.store_paused(error);
  }
  retry_at_ = now_ + kRetryInterval;
  check_closed();
}

// Not performed: another task of its turn failed. Its place is behind that one, which is parked or
// about to be.
void CodingJobs::disk_overtook(std::shared_ptr<DiskTask> task) {
  if (paused_ || task->turn == disk_turn_) {
    parked_.push_back(std::move(task));
    check_closed();
  } else {
    start_disk(std::move(task));
  }
}

void CodingJobs::disk_succeeded(bool progress, bool taken) {
  if (progress && taken) {
    ++writes_;
    if (sync_at_ == core::kNever) sync_at_ = now_ + kSyncInterval;
  }
  if (!paused_ || !probing_) return;
  probing_ = false;
  // A task that had become needless says nothing about the disk.
  if (!taken && !parked_.empty()) return probe_disk();
  paused_ = false;
  retry_at_ = core::kNever;
  outcomes_.store_resumed();
  auto parked = std::move(parked_);
  parked_.clear();
  for (auto& task : parked) start_disk(std::move(task));
}

void CodingJobs::probe_disk() {
  probing_ = true;
  auto probe = std::move(parked_.front());
  parked_.pop_front();
  start_disk(std::move(probe));
}

void CodingJobs::wake(core::TimeUs now) {
  now_ = now;
  if (retry_at_ <= now) {
    retry_at_ = core::kNever;
    if (!parked_.empty()) probe_disk();
  }
  if (sync_at_ <= now) {
    sync_at_ = core::kNever;
    sync();
  }
  if (read_again_at_ <= now) read_again();
  if (probe_at_ <= now) probe_unreadable();
  if (rows_.next_due() <= now) spool(now, false);
  flush();
}

core::TimeUs CodingJobs::next_wake() const {
  return std::min({retry_at_, sync_at_, read_again_at_, probe_at_, rows_.next_due()});
}

void CodingJobs::flush() {
  drain_backlog();
  // What is made on this thread ends within start_sending, and may leave orders for another round.
  while (!sending_changed_.empty()) {
    const auto changed = std::exchange(sending_changed_, {});
    for (std::uint32_t generation : changed) {
      const auto sending = sending_.find(generation);
      if (sending != sending_.end()) start_sending(generation, sending->second);
    }
  }
}

// --- rows ---

void CodingJobs::store_row(const core::StoreRow& action, core::TimeUs now) {
  now_ = now;
  rows_.store(action, now);
  if (!rows_.memory_short() || row_memory_stuck_) return;
  if (rows_.make_room()) return;
  row_memory_stuck_ = true;
  spool(now, true);
}

void CodingJobs::spool(core::TimeUs now, bool all) {
  for (SpoolBatch& batch : rows_.take_due(now, all)) spool_batch(std::move(batch));
}

void CodingJobs::spool_batch(SpoolBatch batch) {
  auto shared = std::make_shared<SpoolBatch>(std::move(batch));
  auto written = std::make_shared<std::size_t>(0);  // where to go on after a failure
  DiskTask task;
  task.key = key_of(shared->generation);
  task.work = [store = store_, shared, written]() -> Result<bool> {
    for (; *written < shared->rows.size(); ++*written) {
      if (shared->life->spooling_cancelled) break;
      const RowToSpool& row = shared->rows[*written];
      const store::SpooledRow spooled{shared->generation, row.slot, *row.vector, row.sender};
      Status status = store->write_row(spooled, row.payload.bytes());
      if (!status.ok()) return status.error();
    }
    return *written > 0;
  };
  task.done = [this, shared] {
    report_stored(shared->generation, rows_.spooled(*shared));
    row_memory_stuck_ = false;
    if (rows_.memory_short()) rows_.make_room();
  };
  submit_disk(std::move(task));
}

void CodingJobs::report_stored(std::uint32_t generation, const std::vector<std::uint32_t>& slots) {
  for (std::uint32_t slot : slots) outcomes_.row_stored(generation, slot);
}

void CodingJobs::drop_rows(std::uint32_t generation) {
  const bool on_disk = rows_.touched_disk(generation);
  report_stored(generation, rows_.drop(generation));
  if (!on_disk) return;
  submit_disk(
      {key_of(generation),
       [store = store_, generation] { return taken_or_error(store->drop_rows(generation)); },
       [] {}});
}

// --- decoding ---

void CodingJobs::decode(core::Decode action, core::TimeUs now) {
  now_ = now;
  const std::uint32_t generation = action.generation;
  rows_.cancel_spooling(generation);
  auto job = std::make_shared<DecodeJob>();
  job->rows = rows_.find_all(generation, shape_of(generation).generation_size, now);
  job->drop_spooled = rows_.touched_disk(generation);
  job->action = std::move(action);
  if (decodes_in_batches(*job)) return decode_in_batch(std::move(job));
  write_decoded(std::move(job));
}

// Decodes what has not been decoded yet, compares it with its digest, and writes it.
void CodingJobs::write_decoded(std::shared_ptr<DecodeJob> job) {
  DiskTask task;
  task.key = key_of(job->action.generation);
  task.work = [job, store = store_, shape = shape_of(job->action.generation),
               buffers = &resources_.buffers, kernels = &resources_.kernels]() -> Result<bool> {
    const std::uint32_t g = job->action.generation;
    if (!job->checked) {
      job->checked = true;
      if (!job->data && !job->unreadable) {
        auto data = buffers->take(shape.generation_bytes());
        if (decode_rows(*kernels, shape, *store, g, job->action.vectors, job->rows, data->bytes()))
          job->data = std::move(data);
      }
      job->rows.clear();
      if (job->data) {
        job->outcome =
            check_decoded(shape, store->manifest().info.generation_digests[g], job->data->bytes());
      }
    }
    if (job->outcome != core::DecodeOutcome::kVerified) return false;
    Status status = store->write_generation(g, job->data->bytes());
    // The spool's place is a matter of room, not of correctness: what cannot be dropped now is
    // forgotten when the store finds the generation in its journal.
    if (status.ok() && job->drop_spooled) (void)store->drop_rows(g);
    return taken_or_error(status);
  };
  task.done = [this, job] { decoded(job); };
  submit_disk(std::move(task));
}

void CodingJobs::decoded(const std::shared_ptr<DecodeJob>& job) {
  const std::uint32_t generation = job->action.generation;
  if (job->outcome == core::DecodeOutcome::kVerified) {
    report_stored(generation, rows_.drop(generation));
    resources_.cache.insert(number_, generation, std::move(job->data));
  } else {
    rows_.restart_spooling(generation, now_);
  }
  outcomes_.generation_decoded(generation, job->outcome);
}

// --- evidence ---

void CodingJobs::keep_evidence(core::KeepEvidence action, core::TimeUs now) {
  now_ = now;
  const std::uint32_t generation = action.generation;
  auto evidence = std::make_shared<Evidence>();
  evidence_[generation] = evidence;
  auto rows = rows_.find_all(generation, shape_of(generation).generation_size, now);
  const bool on_disk = rows_.touched_disk(generation);
  submit(key_of(generation),
         [evidence, rows = std::move(rows), action = std::move(action), store = store_,
          shape = shape_of(generation)]() -> WorkerPool::Completion {
           *evidence = gather_evidence(shape, *store, action, rows);
           return {};
         });
  report_stored(generation, rows_.drop(generation));
  if (on_disk)
    submit_disk(
        {key_of(generation),
         [store = store_, generation] { return taken_or_error(store->drop_rows(generation)); },
         [] {}});
}

void CodingJobs::check_evidence(std::uint32_t generation) {
  const auto found = evidence_.find(generation);
  if (found == evidence_.end()) return outcomes_.evidence_checked(generation, {});
  auto evidence = found->second;
  evidence_.erase(found);
  submit(key_of(generation),
         [this, alive = alive_, evidence, generation,
          data = resources_.cache.find(number_, generation), store = store_,
          shape = shape_of(generation), buffers = &resources_.buffers,
          kernels = &resources_.kernels]() mutable -> WorkerPool::Completion {
           std::vector<PeerId> guilty;
           if (!data) {
             const StageScope stage(Stage::kDiskRead);
             auto loaded = buffers->take(shape.generation_bytes());
             if (store->read_generation(generation, loaded->bytes()).ok()) data = loaded;
           }
           if (data) guilty = find_guilty(*kernels, shape, data->bytes(), *evidence);
           return [this, alive, generation, guilty] {
             if (*alive) outcomes_.evidence_checked(generation, guilty);
           };
         });
}

// --- the whole store ---

void CodingJobs::sync() {
  // What a finish makes durable needs no sync, which would only wait behind it.
  if (writes_ == writes_synced_ || paused_ || finishing_) return;
  submit_disk({WorkerPool::kUnordered, [store = store_] { return taken_or_error(store->sync()); },
               [this, writes = writes_] {
                 writes_synced_ = writes;
                 tell_news();
               },
               false});
}

void CodingJobs::finish() {
  if (finishing_) {
    finish_again_ = true;
    return;
  }
  finishing_ = true;
  auto finished = std::make_shared<Result<bool>>(false);
  const auto work = [store = store_, finished]() -> Result<bool> {
    *finished = store->finish();
    // Files that were changed stay so however often we try: that is an end, not a pause.
    if (!finished->ok() && finished->error().code != ErrorCode::kCorrupt) return finished->error();
    return true;
  };
  const auto done = [this, finished, writes = writes_] {
    finishing_ = false;
    writes_synced_ = std::max(writes_synced_, writes);
    tell_news();
    if (!finished->ok()) return outcomes_.store_spoiled(finished->error());
    // Something was lost; when it is back we are asked again, or have been.
    if (!**finished) return std::exchange(finish_again_, false) ? finish() : void();
    sync_at_ = core::kNever;
    outcomes_.store_finished();
  };
  submit_disk({WorkerPool::kUnordered, work, done, false});
}

void CodingJobs::close(core::TimeUs now, std::function<void()> done) {
  now_ = now;
  closed_ = std::move(done);
  spool(now, true);
  check_closed();
}

void CodingJobs::check_closed() {
  if (!closed_ || (disk_tasks_ > 0 && !paused_)) return;
  if (!paused_ && writes_ != writes_synced_) return sync();
  sync_at_ = core::kNever;
  auto done = std::move(closed_);
  closed_ = nullptr;
  done();
}

}  // namespace firn::app
