#include "client/app/coding/data_plane.h"

#include <algorithm>
#include <utility>

namespace firn::app {

DataPlane::DataPlane(const CodingResources& lent, std::uint32_t number,
                     std::shared_ptr<store::ContentStore> store, std::size_t row_bytes_max,
                     const std::vector<std::uint32_t>& resumed, CodingOutcomes& outcomes)
    : outcomes_(outcomes),
      content_(std::make_shared<const CodedContent>(lent, number, std::move(store))),
      tasks_(lent.pool),
      disk_(tasks_, clock_, *this),
      durability_(content_, disk_, clock_, outcomes),
      rows_(content_, disk_, clock_, outcomes, row_bytes_max, resumed),
      decoder_(content_, tasks_, disk_, rows_, outcomes),
      judge_(content_, tasks_, clock_, rows_, outcomes),
      check_maker_(content_, tasks_, outcomes),
      leaf_maker_(content_, tasks_, outcomes),
      stock_(content_, stock_maker(content_, tasks_), clock_, outcomes,
             [this](std::uint32_t generation, BlockOrder order) {
               maker_.queue(generation, std::move(order));
             }),
      losses_(content_, tasks_, clock_, stock_, durability_, outcomes),
      maker_(content_, tasks_, clock_, rows_, stock_, losses_, outcomes) {}

void DataPlane::store_row(const core::StoreRow& action, core::TimeUs now) {
  clock_.set(now);
  rows_.store(action);
}

void DataPlane::mark_proven(const core::MarkProven& action) {
  rows_.mark_proven(action.generation, action.slots);
}

void DataPlane::doubt_rows() {
  rows_.doubt_all();
}

void DataPlane::send_block(std::uint64_t ticket, const BlockWanted& wanted, core::TimeUs now) {
  clock_.set(now);
  maker_.make(ticket, wanted);
}

void DataPlane::decode(core::Decode action, core::TimeUs now) {
  clock_.set(now);
  decoder_.decode(std::move(action));
}

void DataPlane::take_fetched(std::uint32_t generation, std::shared_ptr<Buffer> data,
                             core::TimeUs now) {
  clock_.set(now);
  decoder_.take(generation, std::move(data));
}

void DataPlane::drop_rows(std::uint32_t generation) {
  rows_.drop(generation);
  judge_.forget(generation);
}

void DataPlane::drop_slots(const core::DropSlots& action) {
  rows_.drop_slots(action.generation, action.slots);
}

void DataPlane::judge_rows(core::JudgeRows action, core::TimeUs now) {
  clock_.set(now);
  judge_.judge(std::move(action));
}

void DataPlane::make_check(const core::MakeCheck& action) {
  check_maker_.make(action);
}

void DataPlane::make_leaves(const core::MakeLeaves& action) {
  leaf_maker_.make(action);
}

void DataPlane::finish() {
  durability_.finish();
}

void DataPlane::choose(std::vector<bool> chosen) {
  durability_.choose(std::move(chosen));
}

bool DataPlane::lose(std::uint32_t generation, const Error& error) {
  return maker_.found_false(generation, error);
}

void DataPlane::serve_everything() {
  maker_.serve_everything();
}

void DataPlane::check_in_background(std::vector<bool> held) {
  check_.emplace(content_, std::move(held), [this](std::uint32_t generation, const Error& error) {
    return maker_.found_false(generation, error);
  });
}

void DataPlane::flush() {
  tasks_.drain();
  maker_.flush();
}

void DataPlane::wake(core::TimeUs now) {
  clock_.set(now);
  disk_.wake();
  durability_.wake();
  maker_.wake();
  stock_.wake();
  losses_.wake();
  rows_.wake();
  flush();
  if (check_) check_->wake(now);
}

core::TimeUs DataPlane::next_wake() const {
  return std::min({disk_.next_wake(), durability_.next_wake(), maker_.next_wake(),
                   stock_.next_wake(), losses_.next_wake(), rows_.next_wake(),
                   check_ ? check_->next_wake() : core::kNever});
}

void DataPlane::close(core::TimeUs now, std::function<void()> done) {
  clock_.set(now);
  check_.reset();
  rows_.spool_all();
  durability_.close(std::move(done));
}

// --- from the disk queue ---

void DataPlane::disk_paused(const Error& error) {
  outcomes_.store_paused(error);
}

void DataPlane::disk_resumed() {
  outcomes_.store_resumed();
}

void DataPlane::disk_wrote() {
  durability_.note_write();
}

void DataPlane::disk_task_ended() {
  durability_.check_closed();
}

}  // namespace firn::app
