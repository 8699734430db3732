// The part of coding_jobs that goes through the batch coder: generations decoded in batches, and
// coded blocks made ahead of demand.
//
// A block of a verified generation that the core calls exchangeable may have any random vector:
// such blocks come from a stock that is filled again when it is half empty. A stock of a generation
// that is asked for no more is thrown away when another needs the room.
#include <algorithm>

#include "client/app/coding_jobs.h"

namespace firn::app {
namespace {

constexpr std::size_t kStockMin = 8;    // blocks made at once
constexpr std::size_t kStockMax = 64;   // the same
constexpr std::size_t kStocksMax = 16;  // generations with a stock

// With source blocks alone decoding is copying, which a trip to a device only delays.
bool any_coded(const std::vector<core::Vector>& vectors) {
  return std::any_of(vectors.begin(), vectors.end(), [](const core::Vector& vector) {
    const auto zeros = std::count(vector->begin(), vector->end(), 0);
    return static_cast<std::size_t>(zeros) + 1 != vector->size();
  });
}

}  // namespace

// --- decoding ---

bool CodingJobs::decodes_in_batches(const DecodeJob& job) const {
  // Devices are made ready for full generations; a short one is not worth another shape.
  return resources_.coder != nullptr && resources_.coder->useful() &&
         job.action.vectors.size() == shape_.generation_size && any_coded(job.action.vectors);
}

void CodingJobs::decode_in_batch(std::shared_ptr<DecodeJob> job) {
  ++disk_tasks_;  // until it is one
  const bool in_memory = std::all_of(job->rows.begin(), job->rows.end(),
                                     [](const RowRef& row) { return bool(row.payload); });
  if (in_memory) return hand_to_coder(std::move(job));
  const std::uint32_t generation = job->action.generation;
  submit(key_of(generation),
         [this, alive = alive_, job = std::move(job), store = store_,
          shape = shape_of(generation)]() -> WorkerPool::Completion {
           job->unreadable = !read_back_rows(shape, *store, job->action.generation, job->rows);
           return [this, alive, job] {
             if (!*alive) return;
             if (!job->unreadable) return hand_to_coder(job);
             write_decoded(job);
             --disk_tasks_;
           };
         });
}

void CodingJobs::hand_to_coder(std::shared_ptr<DecodeJob> job) {
  DecodeOrder order{shape_.generation_size, shape_.block_bytes, {}, {}, {}};
  for (const RowRef& row : job->rows) {
    order.vectors.push_back(job->action.vectors[row.slot]);
    order.payloads.push_back(row.payload);
  }
  order.done = [this, alive = alive_, job = std::move(job)](std::shared_ptr<Buffer> decoded) {
    if (!*alive) return;
    job->unreadable = decoded == nullptr;  // rows that lack rank are as good as rows that are gone
    job->data = std::move(decoded);
    write_decoded(job);
    --disk_tasks_;
  };
  resources_.coder->decode(std::move(order));
}

// --- the stock ---

// Takes the order if its block comes from a stock, now or later.
bool CodingJobs::send_from_stock(BlockOrder& order, std::uint32_t generation) {
  BatchCoder* const coder = resources_.coder;
  const bool wanted =
      coder != nullptr && coder->useful() && order.coefficients.size() == shape_.generation_size;
  const auto found = stocks_.find(generation);
  if (!wanted && (found == stocks_.end() || found->second.blocks.empty())) return false;
  // What is not in memory is read as for any other block; the blocks after that one come from here.
  // A generation that had a stock may still be kept by a device.
  if (found == stocks_.end() && !resources_.cache.find(number_, generation)) return false;
  Stock& stock = stocks_[generation];
  stock.used = ++stock_uses_;
  stock.waiting.push_back(std::move(order));
  serve_from_stock(generation, stock);
  return true;
}

void CodingJobs::serve_from_stock(std::uint32_t generation, Stock& stock) {
  while (!stock.waiting.empty() && !stock.blocks.empty()) {
    CodedPayload block = std::move(stock.blocks.front());
    stock.blocks.pop_front();
    stock_bytes_ -= shape_.block_bytes;
    const std::uint64_t ticket = stock.waiting.front().ticket;
    stock.waiting.pop_front();
    outcomes_.exchanged_block_made(ticket, std::move(block.vector), std::move(block.payload));
  }
  if (!stock.under_way && stock.blocks.size() <= stock_rows() / 2) refill(generation, stock);
}

std::size_t CodingJobs::stock_rows() const {
  const std::size_t room = resources_.coder->options().stock_bytes / 2 / shape_.block_bytes;
  const std::size_t fair =
      std::clamp<std::size_t>(shape_.generation_size / 8, kStockMin, kStockMax);
  return std::max<std::size_t>(1, std::min(room, fair));
}

void CodingJobs::refill(std::uint32_t generation, Stock& stock) {
  SharedBuffer source = resources_.cache.find(number_, generation);
  if (!resources_.coder->useful()) return send_without_stock(generation, stock);
  stock.under_way = true;
  resources_.coder->encode({key_of(generation), shape_.generation_size, shape_.block_bytes,
                            std::move(source), stock_rows(),
                            [this, alive = alive_, generation](std::vector<CodedPayload> blocks) {
                              if (*alive) refilled(generation, std::move(blocks));
                            }});
}

// The ordinary way, with the vectors that the orders came with.
void CodingJobs::send_without_stock(std::uint32_t generation, Stock& stock) {
  for (BlockOrder& order : stock.waiting) {
    sending_[generation].waiting.push_back(std::move(order));
    sending_changed_.push_back(generation);
  }
  stock.waiting.clear();
}

void CodingJobs::refilled(std::uint32_t generation, std::vector<CodedPayload> blocks) {
  const auto found = stocks_.find(generation);
  if (found == stocks_.end()) return;  // lost meanwhile
  Stock& stock = found->second;
  stock.under_way = false;
  // Nobody has the source blocks any more: they are read again, for those who wait.
  if (blocks.empty()) return send_without_stock(generation, stock);
  stock_bytes_ += blocks.size() * shape_.block_bytes;
  for (CodedPayload& block : blocks) stock.blocks.push_back(std::move(block));
  serve_from_stock(generation, stock);
  trim_stocks(generation);
}

// The least recently used go until there is room, but for the one in use.
void CodingJobs::trim_stocks(std::uint32_t keep) {
  while (stocks_.size() > kStocksMax || stock_bytes_ > resources_.coder->options().stock_bytes) {
    auto oldest = stocks_.end();
    for (auto it = stocks_.begin(); it != stocks_.end(); ++it) {
      const bool idle = it->first != keep && !it->second.under_way && it->second.waiting.empty();
      if (idle && (oldest == stocks_.end() || it->second.used < oldest->second.used)) oldest = it;
    }
    if (oldest == stocks_.end()) return;
    drop_stock(oldest->first);
  }
}

void CodingJobs::drop_stock(std::uint32_t generation) {
  const auto found = stocks_.find(generation);
  if (found == stocks_.end()) return;
  stock_bytes_ -= found->second.blocks.size() * shape_.block_bytes;
  for (const BlockOrder& order : found->second.waiting) outcomes_.block_made(order.ticket, {});
  stocks_.erase(found);
}

}  // namespace firn::app
