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
  if (writes_ == writes_synced_ || disk_.paused() || finishing_ || syncing_ || choosing_) return;
  syncing_ = true;
  auto news = std::make_shared<News>();
  DiskQueue::Task task;
  task.progress = false;
  task.work = [content = content_, news]() -> Result<bool> {
    const Status status = content->store().sync();
    take_news(content->store(), *news);
    if (!status.ok()) return status.error();
    return true;
  };
  task.done = [this, news, writes = writes_] { synced(writes, *news); };
  disk_.submit(std::move(task));
}

void Durability::synced(std::uint64_t writes, const News& news) {
  syncing_ = false;
  writes_synced_ = writes;
  tell(news);
  go_on();
}

// With what was asked for while another task was under way.
void Durability::go_on() {
  if (choice_) return begin_choosing();
  if (std::exchange(finish_again_, false)) return finish();
  if (sync_at_ == core::kNever) sync();  // it became due meanwhile
}

void Durability::choose(std::vector<bool> chosen) {
  choice_ = std::move(chosen);
  finish_again_ = false;
  if (!finishing_ && !syncing_ && !choosing_) begin_choosing();
}

void Durability::begin_choosing() {
  choosing_ = true;
  auto news = std::make_shared<News>();
  DiskQueue::Task task;
  task.work = [content = content_, news,
               chosen = *std::exchange(choice_, std::nullopt)]() -> Result<bool> {
    const Status status = content->store().choose(chosen);
    take_news(content->store(), *news);
    if (!status.ok()) return status.error();
    return true;
  };
  task.done = [this, news] {
    choosing_ = false;
    tell(*news);
    go_on();
  };
  disk_.submit(std::move(task));
}

void Durability::finish() {
  if (finishing_ || syncing_ || choosing_) {
    finish_again_ = true;
    return;
  }
  finishing_ = true;
  auto result = std::make_shared<Result<bool>>(false);
  auto news = std::make_shared<News>();
  DiskQueue::Task task;
  task.progress = false;
  task.work = [content = content_, result, news]() -> Result<bool> {
    *result = content->store().finish();
    take_news(content->store(), *news);
    // Files that were changed stay so however often we try: that is an end, not a pause.
    if (!result->ok() && result->error().code != ErrorCode::kCorrupt) return result->error();
    return true;
  };
  task.done = [this, result, news, writes = writes_] { finished(*result, writes, *news); };
  disk_.submit(std::move(task));
}

void Durability::finished(const Result<bool>& result, std::uint64_t writes, const News& news) {
  finishing_ = false;
  const bool incomplete = result.ok() && !*result;
  if (!incomplete) writes_synced_ = std::max(writes_synced_, writes);
  tell(news);
  if (choice_) return go_on();
  if (!result.ok()) return outcomes_.store_spoiled(result.error());
  if (*result) {
    sync_at_ = core::kNever;
    return outcomes_.store_finished();
  }
  // Something was lost; when it is back the core asks again, or has asked meanwhile.
  go_on();
}

void Durability::take_news(store::ContentStore& store, News& news) {
  if (news.warning.empty()) news.warning = store.take_warning();
  const std::vector<std::uint32_t> lost = store.take_lost();
  news.lost.insert(news.lost.end(), lost.begin(), lost.end());
}

void Durability::tell(const News& news) {
  if (!news.warning.empty()) outcomes_.store_warning(news.warning);
  for (const std::uint32_t generation : news.lost) {
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
