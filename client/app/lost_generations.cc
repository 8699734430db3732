// The part of CodingJobs that deals with verified generations that cannot be read any more.
//
// What was changed stays so. What could not be read (a file moved away, a network share that is
// gone) is not served meanwhile, and tried again at growing intervals.
#include <algorithm>
#include <iterator>

#include "client/app/coding_jobs.h"
#include "proto/stage_times.h"

namespace firn::app {
namespace {

constexpr core::TimeUs kProbeIntervalMax = 60 * core::kSecond;
// Reading good ones takes time: so many at once, then others have their turn.
constexpr std::size_t kRegainedAtOnce = 16;

}  // namespace

bool CodingJobs::found_false(std::uint32_t generation, const Error& error) {
  Sending& sending = sending_[generation];
  if (sending.under_way) return false;
  sending.under_way = true;
  lose(generation, error, {});
  return true;
}

// The store decides what may be done about it. Until it has, no more blocks of it are tried.
void CodingJobs::lose(std::uint32_t generation, const Error& error,
                      std::vector<BlockOrder> orders) {
  resources_.cache.erase(number_, generation);
  drop_stock(generation);
  if (resources_.coder != nullptr) resources_.coder->forget(key_of(generation));
  submit(key_of(generation),
         [this, alive = alive_, generation, error, orders = std::move(orders),
          store = store_]() mutable -> WorkerPool::Completion {
           const bool fetch_again = store->lose_generation(generation);
           return
               [this, alive, generation, error, orders = std::move(orders), fetch_again]() mutable {
                 if (*alive) lost(generation, error, fetch_again, orders);
               };
         });
}

void CodingJobs::lost(std::uint32_t generation, const Error& error, bool fetch_again,
                      std::vector<BlockOrder>& orders) {
  ++writes_;  // a record in the journal
  if (sync_at_ == core::kNever) sync_at_ = now_ + kSyncInterval;
  outcomes_.generation_lost(generation, error, fetch_again);
  if (!fetch_again && error.code != ErrorCode::kCorrupt) {
    unreadable_.push_back(generation);
    if (probe_at_ == core::kNever && !probing_unreadable_) probe_at_ = now_ + probe_wait_;
  }
  // Nor are those made that were asked for meanwhile.
  std::vector<BlockOrder>& waiting = sending_.at(generation).waiting;
  const auto verified = [](const BlockOrder& order) { return order.rows.empty(); };
  std::copy_if(std::make_move_iterator(waiting.begin()), std::make_move_iterator(waiting.end()),
               std::back_inserter(orders), verified);
  std::erase_if(waiting, verified);
  std::vector<proto::Payload> none(orders.size());
  sent(generation, orders, none);
}

// What a sync found damaged in the work folder, and what else it has to say.
void CodingJobs::tell_news() {
  if (const std::string warning = store_->take_warning(); !warning.empty())
    outcomes_.store_warning(warning);
  for (const std::uint32_t generation : store_->take_lost()) {
    resources_.cache.erase(number_, generation);
    const std::string operation = "read back generation " + std::to_string(generation);
    outcomes_.generation_lost(
        generation, {ErrorCode::kCorrupt, operation, "the disk has lost what was written"}, true);
  }
}

// Looks at those that could not be read, at most until some have come back.
void CodingJobs::probe_unreadable() {
  probe_at_ = core::kNever;
  probing_unreadable_ = true;
  submit(WorkerPool::kUnordered,
         [this, alive = alive_, generations = std::exchange(unreadable_, {}), store = store_,
          buffers = &resources_.buffers]() mutable -> WorkerPool::Completion {
           const StageScope stage(Stage::kDiskRead);
           const Shape& shape = store->manifest().info.shape;
           const auto buffer = buffers->take(shape.generation_bytes());
           std::vector<std::uint32_t> regained;
           std::erase_if(generations, [&](std::uint32_t generation) {
             if (regained.size() == kRegainedAtOnce) return false;
             const Status read = store->read_generation(
                 generation, buffer->bytes().first(shape.padded_bytes(generation)));
             if (!read.ok()) return read.error().code == ErrorCode::kCorrupt;
             store->regain_generation(generation);
             regained.push_back(generation);
             return true;
           });
           return [this, alive, generations = std::move(generations), regained] {
             if (*alive) probed_unreadable(generations, regained);
           };
         });
}

void CodingJobs::probed_unreadable(const std::vector<std::uint32_t>& left,
                                   const std::vector<std::uint32_t>& regained) {
  probing_unreadable_ = false;
  unreadable_.insert(unreadable_.end(), left.begin(), left.end());
  probe_wait_ = regained.empty() ? std::min(2 * probe_wait_, kProbeIntervalMax) : kRetryInterval;
  if (!unreadable_.empty()) probe_at_ = now_ + probe_wait_;
  for (const std::uint32_t generation : regained) outcomes_.generation_regained(generation);
}

}  // namespace firn::app
