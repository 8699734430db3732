#include "client/app/coding/durability.h"

#include <algorithm>
#include <string>
#include <utility>

namespace firn::app {

Durability::Durability(std::shared_ptr<const CodedContent> content, DiskQueue& disk,
                       const TurnClock& clock, CodingOutcomes& outcomes)
    : content_(std::move(content)), disk_(disk), clock_(clock), outcomes_(outcomes) {}

void Durability::note_write() {
  ++writes_;
  if (sync_at_ == core::kNever) sync_at_ = clock_.now() + kSyncInterval;
}

void Durability::wake() {
  if (sync_at_ > clock_.now()) return;
  sync_at_ = core::kNever;
  sync();
}

void Durability::sync() {
  // What a finish makes durable needs no sync, which would only wait behind it.
  if (writes_ == writes_synced_ || disk_.paused() || finishing_) return;
  DiskQueue::Task task;
  task.progress = false;
  task.work = [content = content_]() -> Result<bool> {
    const Status status = content->store().sync();
    if (!status.ok()) return status.error();
    return true;
  };
  task.done = [this, writes = writes_] {
    writes_synced_ = writes;
    tell_news();
  };
  disk_.submit(std::move(task));
}

void Durability::finish() {
  if (finishing_) {
    finish_again_ = true;
    return;
  }
  finishing_ = true;
  auto result = std::make_shared<Result<bool>>(false);
  DiskQueue::Task task;
  task.progress = false;
  task.work = [content = content_, result]() -> Result<bool> {
    *result = content->store().finish();
    // Files that were changed stay so however often we try: that is an end, not a pause.
    if (!result->ok() && result->error().code != ErrorCode::kCorrupt) return result->error();
    return true;
  };
  task.done = [this, result, writes = writes_] { finished(*result, writes); };
  disk_.submit(std::move(task));
}

void Durability::finished(const Result<bool>& result, std::uint64_t writes) {
  finishing_ = false;
  writes_synced_ = std::max(writes_synced_, writes);
  tell_news();
  if (!result.ok()) return outcomes_.store_spoiled(result.error());
  if (*result) {
    sync_at_ = core::kNever;
    outcomes_.store_finished();
  } else if (std::exchange(finish_again_, false)) {
    // Something was lost; when it is back the core asks again, or has asked meanwhile.
    finish();
  }
}

// What the store found damaged in the work folder, and what else it has to say.
void Durability::tell_news() {
  if (const std::string warning = content_->store().take_warning(); !warning.empty())
    outcomes_.store_warning(warning);
  for (const std::uint32_t generation : content_->store().take_lost()) {
    content_->uncache(generation);
    const std::string operation = "read back generation " + std::to_string(generation);
    outcomes_.generation_lost(
        generation, {ErrorCode::kCorrupt, operation, "the disk has lost what was written"}, true);
  }
}

void Durability::close(std::function<void()> done) {
  closed_ = std::move(done);
  check_closed();
}

void Durability::check_closed() {
  if (!closed_ || !disk_.at_rest()) return;
  if (!disk_.paused() && writes_ != writes_synced_) return sync();
  sync_at_ = core::kNever;
  std::exchange(closed_, nullptr)();
}

}  // namespace firn::app
