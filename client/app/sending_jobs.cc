// The half of CodingJobs that makes blocks to send.
//
// Blocks of one generation that are asked for while its job is under way wait and go together into
// the next one, as one matrix product: the batch grows with the load by itself.
#include <algorithm>
#include <iterator>

#include "client/app/coding_jobs.h"
#include "proto/stage_times.h"

namespace firn::app {

void CodingJobs::send_block(std::uint64_t ticket, core::SendBlock action, core::TimeUs now) {
  now_ = now;
  const std::uint32_t generation = action.block.generation;
  BlockOrder order;
  order.ticket = ticket;
  if (action.slots.empty()) {
    order.source_index = action.block.source_index;
    if (!order.source_index) order.coefficients = action.block.coefficients;
    if (generation != last_served_) {
      // Receivers may stand at different generations, and each block be of another than the one
      // before: with room for few, what is read ahead then only drives out what is being served.
      const bool front = !front_served_ || generation > *front_served_;
      if (front) front_served_ = generation;
      if (front || resources_.cache.bytes_max() >= kRoomyCache * shape_.generation_bytes())
        fetch_ahead(generation + 1);
      last_served_ = generation;
    }
    if (send_from_cache(order, generation)) return;
    if (action.exchangeable && send_from_stock(order, generation)) return;
  } else {
    order.coefficients = std::move(action.mix);
    order.rows = rows_.find(generation, action.slots, now);
  }
  sending_[generation].waiting.push_back(std::move(order));
  sending_changed_.push_back(generation);
}

// A source block of a generation at hand is one copy: cheaper than a trip through the pool.
bool CodingJobs::send_from_cache(const BlockOrder& order, std::uint32_t generation) {
  if (!order.source_index) return false;
  const SharedBuffer data = resources_.cache.find(number_, generation);
  if (!data) return false;
  auto made =
      make_source_blocks(resources_.kernels, shape_of(generation), data->bytes(), {&order, 1});
  outcomes_.block_made(order.ticket, std::move(made[0]));
  return true;
}

void CodingJobs::start_sending(std::uint32_t generation, Sending& sending) {
  if (sending.under_way || sending.waiting.empty()) return;
  // Recoded and source blocks do not mix: the generation was verified between them.
  const bool recoded = !sending.waiting.front().rows.empty();
  if (!recoded && fetching_.contains(generation)) return;  // it is coming
  std::vector<BlockOrder> orders;
  std::size_t taken = 0;
  while (taken < sending.waiting.size() && taken < kBlocksAtOnce &&
         recoded != sending.waiting[taken].rows.empty())
    orders.push_back(std::move(sending.waiting[taken++]));
  sending.waiting.erase(sending.waiting.begin(),
                        sending.waiting.begin() + static_cast<std::ptrdiff_t>(taken));
  sending.under_way = true;
  if (recoded) {
    start_recoding(generation, std::move(orders));
  } else {
    start_sending_verified(generation, std::move(orders));
  }
}

void CodingJobs::start_sending_verified(std::uint32_t generation, std::vector<BlockOrder> orders) {
  SharedBuffer data = resources_.cache.find(number_, generation);
  const bool cached = data != nullptr;
  std::uint64_t multiply_adds = 0;
  for (const BlockOrder& order : orders)
    multiply_adds += std::max<std::size_t>(order.coefficients.size(), 1) * shape_.block_bytes;
  make_blocks(
      generation, multiply_adds, cached,
      [this, alive = alive_, generation, data = std::move(data), cached, orders = std::move(orders),
       store = store_, shape = shape_of(generation), buffers = &resources_.buffers,
       kernels = &resources_.kernels]() mutable -> WorkerPool::Completion {
        std::optional<Error> error;
        if (!data) {
          const StageScope stage(Stage::kDiskRead);
          auto loaded = buffers->take(shape.generation_bytes());
          const Status status = store->read_generation(generation, loaded->bytes());
          if (!status.ok()) error = status.error();
          data = std::move(loaded);
        }
        std::vector<proto::Payload> blocks(orders.size());
        if (!error) blocks = make_source_blocks(*kernels, shape, data->bytes(), orders);
        return [this, alive, generation, data, cached, error, orders = std::move(orders),
                blocks = std::move(blocks)]() mutable {
          if (!*alive) return;
          if (error) {
            if (read_again_later(generation, *error, orders)) return;
            return lose(generation, *error, std::move(orders));
          } else if (!cached) {
            resources_.cache.insert(number_, generation, data);
          }
          sent(generation, orders, blocks);
        };
      });
}

void CodingJobs::start_recoding(std::uint32_t generation, std::vector<BlockOrder> orders) {
  std::uint64_t multiply_adds = 0;
  bool at_hand = true;
  for (const BlockOrder& order : orders) {
    multiply_adds += order.rows.size() * shape_.block_bytes;
    for (const RowRef& row : order.rows) at_hand &= bool(row.payload);
  }
  make_blocks(generation, multiply_adds, at_hand,
              [this, alive = alive_, generation, orders = std::move(orders), store = store_,
               shape = shape_of(generation),
               kernels = &resources_.kernels]() mutable -> WorkerPool::Completion {
                std::vector<RowRef> read_back;
                auto blocks =
                    make_recoded_blocks(*kernels, shape, *store, generation, orders, read_back);
                return [this, alive, generation, orders = std::move(orders),
                        read_back = std::move(read_back), blocks = std::move(blocks)]() mutable {
                  if (!*alive) return;
                  rows_.put_back(generation, read_back, now_);
                  sent(generation, orders, blocks);
                };
              });
}

// `at_hand`: the task needs nothing from the disk, hence nothing that waits in the pool either.
void CodingJobs::make_blocks(std::uint32_t generation, std::uint64_t multiply_adds, bool at_hand,
                             WorkerPool::Task task) {
  if (at_hand && resources_.loop_budget.take(multiply_adds, now_)) {
    task()();
  } else {
    submit(key_of(generation), std::move(task));
  }
}

void CodingJobs::sent(std::uint32_t generation, const std::vector<BlockOrder>& orders,
                      std::vector<proto::Payload>& blocks) {
  for (std::size_t i = 0; i < orders.size(); ++i)
    outcomes_.block_made(orders[i].ticket, std::move(blocks[i]));
  const auto sending = sending_.find(generation);
  sending->second.under_way = false;
  sending->second.failures = 0;
  if (sending->second.waiting.empty()) {
    sending_.erase(sending);
  } else {
    sending_changed_.push_back(generation);
  }
}

// A source goes through its generations in sequence: the next one is read and hashed while this one
// is being sent.
void CodingJobs::fetch_ahead(std::uint32_t generation) {
  if (!serves_everything_ || generation >= store_->manifest().info.shape.generation_count()) return;
  if (resources_.cache.find(number_, generation) || !fetching_.insert(generation).second) return;
  submit(key_of(generation),
         [this, alive = alive_, generation, store = store_, shape = shape_of(generation),
          buffers = &resources_.buffers]() -> WorkerPool::Completion {
           const StageScope stage(Stage::kDiskRead);
           auto data = buffers->take(shape.generation_bytes());
           const Status status = store->read_generation(generation, data->bytes());
           return [this, alive, generation, data, good = status.ok()] {
             if (!*alive) return;
             fetching_.erase(generation);
             sending_changed_.push_back(generation);
             // A failure is told when the generation is really asked for.
             if (good) resources_.cache.insert(number_, generation, data);
           };
         });
}

// No descriptors left, a disk that stalls: that may pass soon, and costs its receivers time only.
bool CodingJobs::read_again_later(std::uint32_t generation, const Error& error,
                                  std::vector<BlockOrder>& orders) {
  if (error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kNotFound) return false;
  Sending& sending = sending_.at(generation);
  if (++sending.failures == kReadTries) return false;
  sending.waiting.insert(sending.waiting.begin(), std::make_move_iterator(orders.begin()),
                         std::make_move_iterator(orders.end()));
  unread_.push_back(generation);
  if (read_again_at_ == core::kNever) read_again_at_ = now_ + kRetryInterval;
  return true;
}

void CodingJobs::read_again() {
  read_again_at_ = core::kNever;
  for (const std::uint32_t generation : unread_) sending_.at(generation).under_way = false;
  sending_changed_.insert(sending_changed_.end(), unread_.begin(), unread_.end());
  unread_.clear();
}

}  // namespace firn::app
