#include "client/app/coding/block_maker.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace firn::app {

BlockMaker::BlockMaker(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
                       const TurnClock& clock, Spooler& rows, Stock& stock, LostGenerations& losses,
                       CodingOutcomes& outcomes)
    : content_(std::move(content)),
      tasks_(tasks),
      clock_(clock),
      rows_(rows),
      stock_(stock),
      losses_(losses),
      outcomes_(outcomes),
      ahead_(content_, tasks,
             [this](std::uint32_t generation) { changed_.push_back(generation); }) {}

// --- orders ---

void BlockMaker::make(std::uint64_t ticket, const BlockWanted& wanted) {
  const std::uint32_t generation = wanted.generation;
  BlockOrder order;
  order.ticket = ticket;
  if (wanted.slots.empty()) {
    ahead_.serving(generation, stock_.keeps(generation + 1));
    if (wanted.exchangeable && stock_.take_ready(ticket, generation)) return;
    order.source_index = wanted.source_index;
    if (!order.source_index)
      order.coefficients.assign(wanted.coefficients.begin(), wanted.coefficients.end());
    if (copy_from_cache(order, generation)) return;
    if (wanted.exchangeable && stock_.take(order, generation)) return;
    // The stock may take it when the generation has been read.
    order.exchangeable = wanted.exchangeable && !content_->cached(generation);
  } else {
    order.coefficients.assign(wanted.mix.begin(), wanted.mix.end());
    order.rows = rows_.find(generation, wanted.slots);
  }
  queue(generation, std::move(order));
}

// A source block of a generation at hand is one copy: cheaper than a trip through the pool.
bool BlockMaker::copy_from_cache(const BlockOrder& order, std::uint32_t generation) {
  if (!order.source_index) return false;
  const SharedBuffer data = content_->cached(generation);
  if (!data) return false;
  auto blocks = make_from_source(*content_, data->bytes(), {&order, 1});
  outcomes_.block_made(order.ticket, std::move(blocks[0]));
  return true;
}

void BlockMaker::queue(std::uint32_t generation, BlockOrder order) {
  lines_[generation].waiting.push_back(std::move(order));
  changed_.push_back(generation);
}

// --- jobs ---

void BlockMaker::flush() {
  // What is made on this thread ends within start(), and may leave orders for another round.
  while (!changed_.empty()) {
    for (std::uint32_t generation : std::exchange(changed_, {})) {
      const auto line = lines_.find(generation);
      if (line != lines_.end()) start(generation, line->second);
    }
  }
}

void BlockMaker::start(std::uint32_t generation, Line& line) {
  if (line.under_way || line.waiting.empty()) return;
  if (line.waiting.front().rows.empty()) {
    if (ahead_.is_coming(generation)) return;
    offer_to_stock(generation, line);
    if (line.waiting.empty()) return void(lines_.erase(generation));
  }
  // Recoded and source blocks do not mix: the generation was verified between them.
  const bool recoded = !line.waiting.front().rows.empty();
  std::vector<BlockOrder> orders;
  std::size_t taken = 0;
  while (taken < line.waiting.size() && taken < kBlocksAtOnce &&
         recoded != line.waiting[taken].rows.empty())
    orders.push_back(std::move(line.waiting[taken++]));
  line.waiting.erase(line.waiting.begin(),
                     line.waiting.begin() + static_cast<std::ptrdiff_t>(taken));
  line.under_way = true;
  if (recoded) {
    recode(generation, std::move(orders));
  } else {
    make_verified(generation, std::move(orders));
  }
}

// What waited for its generation to be read. Recoded blocks of before it was verified come first.
void BlockMaker::offer_to_stock(std::uint32_t generation, Line& line) {
  if (!content_->cached(generation)) return;
  for (BlockOrder& order : std::exchange(line.waiting, {})) {
    if (!order.exchangeable || !stock_.take(order, generation))
      line.waiting.push_back(std::move(order));
  }
}

void BlockMaker::make_verified(std::uint32_t generation, std::vector<BlockOrder> orders) {
  SharedBuffer data = content_->cached(generation);
  const bool cached = data != nullptr;
  std::uint64_t multiply_adds = 0;
  for (const BlockOrder& order : orders)
    multiply_adds +=
        std::max<std::size_t>(order.coefficients.size(), 1) * content_->shape().block_bytes;
  perform(generation, multiply_adds, cached,
          [this, generation, data = std::move(data), cached, orders = std::move(orders),
           content = content_]() mutable -> WorkerPool::Completion {
            if (!data) {
              auto loaded = content->load(generation);
              if (!loaded.ok())
                return [this, generation, error = loaded.error(),
                        orders = std::move(orders)]() mutable {
                  unreadable(generation, error, std::move(orders));
                };
              data = *loaded;
            }
            auto blocks = make_from_source(*content, data->bytes(), orders);
            return [this, generation, data, cached, orders = std::move(orders),
                    blocks = std::move(blocks)]() mutable {
              if (!cached) content_->cache(generation, data);
              made(generation, orders, blocks);
            };
          });
}

void BlockMaker::recode(std::uint32_t generation, std::vector<BlockOrder> orders) {
  std::uint64_t multiply_adds = 0;
  bool at_hand = true;
  for (const BlockOrder& order : orders) {
    multiply_adds += order.rows.size() * content_->shape().block_bytes;
    for (const RowRef& row : order.rows) at_hand &= bool(row.payload);
  }
  perform(generation, multiply_adds, at_hand,
          [this, generation, orders = std::move(orders),
           content = content_]() mutable -> WorkerPool::Completion {
            std::vector<RowRef> read_back;
            auto blocks = make_from_rows(*content, generation, orders, read_back);
            return [this, generation, orders = std::move(orders), read_back = std::move(read_back),
                    blocks = std::move(blocks)]() mutable {
              rows_.put_back(generation, read_back);
              made(generation, orders, blocks);
            };
          });
}

// `at_hand`: the task needs nothing from the disk, hence nothing that waits in the pool either.
void BlockMaker::perform(std::uint32_t generation, std::uint64_t multiply_adds, bool at_hand,
                         WorkerPool::Task task) {
  if (at_hand && content_->loop_budget().take(multiply_adds, clock_.now())) {
    task()();
  } else {
    tasks_.submit(content_->key_of(generation), std::move(task));
  }
}

// An empty payload: the block could not be made.
void BlockMaker::made(std::uint32_t generation, const std::vector<BlockOrder>& orders,
                      std::vector<proto::Payload>& blocks) {
  for (std::size_t i = 0; i < orders.size(); ++i)
    outcomes_.block_made(orders[i].ticket, std::move(blocks[i]));
  const auto line = lines_.find(generation);
  line->second.under_way = false;
  line->second.failures = 0;
  if (line->second.waiting.empty()) {
    lines_.erase(line);
  } else {
    changed_.push_back(generation);
  }
}

// --- generations that cannot be read ---

void BlockMaker::unreadable(std::uint32_t generation, const Error& error,
                            std::vector<BlockOrder> orders) {
  if (read_again_later(generation, error, orders)) return;
  losses_.lose(generation, error, [this, generation, orders = std::move(orders)]() mutable {
    give_up(generation, std::move(orders));
  });
}

// A disk that stalls: that may pass soon, and costs its receivers time only. Where no descriptors
// or memory are left, nothing is wrong with the generation, however long that lasts.
bool BlockMaker::read_again_later(std::uint32_t generation, const Error& error,
                                  std::vector<BlockOrder>& orders) {
  if (!may_pass(error)) return false;
  Line& line = lines_.at(generation);
  if (error.code != ErrorCode::kBusy && ++line.failures == kReadTries) return false;
  line.waiting.insert(line.waiting.begin(), std::make_move_iterator(orders.begin()),
                      std::make_move_iterator(orders.end()));
  unread_.push_back(generation);
  if (read_again_at_ == core::kNever) read_again_at_ = clock_.now() + kReadInterval;
  return true;
}

void BlockMaker::wake() {
  if (read_again_at_ <= clock_.now()) read_again();
}

void BlockMaker::read_again() {
  read_again_at_ = core::kNever;
  for (const std::uint32_t generation : unread_) lines_.at(generation).under_way = false;
  changed_.insert(changed_.end(), unread_.begin(), unread_.end());
  unread_.clear();
}

bool BlockMaker::found_false(std::uint32_t generation, const Error& error) {
  Line& line = lines_[generation];
  if (line.under_way) return false;
  line.under_way = true;  // no more blocks of it are tried
  losses_.lose(generation, error, [this, generation] { give_up(generation, {}); });
  return true;
}

// The generation is lost. Nor are those blocks made that were asked for meanwhile.
void BlockMaker::give_up(std::uint32_t generation, std::vector<BlockOrder> orders) {
  std::vector<BlockOrder>& waiting = lines_.at(generation).waiting;
  const auto verified = [](const BlockOrder& order) { return order.rows.empty(); };
  std::copy_if(std::make_move_iterator(waiting.begin()), std::make_move_iterator(waiting.end()),
               std::back_inserter(orders), verified);
  std::erase_if(waiting, verified);
  std::vector<proto::Payload> none(orders.size());
  made(generation, orders, none);
}

}  // namespace firn::app
