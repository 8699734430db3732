#include "client/app/coding/stock.h"

#include <algorithm>
#include <utility>

namespace firn::app {

Stock::Stock(std::shared_ptr<const CodedContent> content, TaskLine& tasks, CodingOutcomes& outcomes,
             Unserved unserved)
    : content_(std::move(content)),
      outcomes_(outcomes),
      unserved_(std::move(unserved)),
      maker_(stock_maker(content_, tasks)) {}

bool Stock::take(BlockOrder& order, std::uint32_t generation) {
  const bool wanted =
      maker_->useful() && order.coefficients.size() == content_->shape().generation_size;
  const auto found = shelves_.find(generation);
  if (!wanted && (found == shelves_.end() || found->second.blocks.empty())) return false;
  // What is not in memory is read as for any other block; the blocks after that one come from here.
  // A generation that had a stock may still be kept by a device.
  if (found == shelves_.end() && !content_->cached(generation)) return false;
  Shelf& shelf = shelves_[generation];
  shelf.used = ++uses_;
  ++shelf.asked;
  if (maker_->ahead(shelf.asked) == 0 && shelf.blocks.empty()) {
    trim(generation);
    return false;
  }
  shelf.waiting.push_back(std::move(order));
  serve(generation, shelf);
  return true;
}

void Stock::serve(std::uint32_t generation, Shelf& shelf) {
  while (!shelf.waiting.empty() && !shelf.blocks.empty()) {
    CodedPayload block = std::move(shelf.blocks.front());
    shelf.blocks.pop_front();
    bytes_ -= content_->shape().block_bytes;
    const std::uint64_t ticket = shelf.waiting.front().ticket;
    shelf.waiting.pop_front();
    outcomes_.exchanged_block_made(ticket, std::move(block.vector), std::move(block.payload));
  }
  if (!shelf.under_way && shelf.blocks.size() <= maker_->ahead(shelf.asked) / 2)
    refill(generation, shelf);
}

void Stock::refill(std::uint32_t generation, Shelf& shelf) {
  if (!maker_->useful()) return leave_unserved(generation, shelf);
  shelf.under_way = true;
  maker_->make(generation, content_->cached(generation),
               maker_->rows(maker_->ahead(shelf.asked), shelf.waiting.size()),
               [this, generation](std::vector<CodedPayload> blocks) {
                 refilled(generation, std::move(blocks));
               });
}

void Stock::refilled(std::uint32_t generation, std::vector<CodedPayload> blocks) {
  const auto found = shelves_.find(generation);
  if (found == shelves_.end()) return;  // lost meanwhile
  Shelf& shelf = found->second;
  shelf.under_way = false;
  // Nobody has the source blocks any more: they are read again, for the orders that wait.
  if (blocks.empty()) return leave_unserved(generation, shelf);
  bytes_ += blocks.size() * content_->shape().block_bytes;
  for (CodedPayload& block : blocks) shelf.blocks.push_back(std::move(block));
  serve(generation, shelf);
  trim(generation);
}

void Stock::leave_unserved(std::uint32_t generation, Shelf& shelf) {
  for (BlockOrder& order : shelf.waiting) unserved_(generation, std::move(order));
  shelf.waiting.clear();
}

// The least recently used go until there is room, but for the one in use.
void Stock::trim(std::uint32_t keep) {
  while (shelves_.size() > maker_->generations_max() || bytes_ > maker_->bytes_max()) {
    auto oldest = shelves_.end();
    for (auto it = shelves_.begin(); it != shelves_.end(); ++it) {
      const bool idle = it->first != keep && !it->second.under_way && it->second.waiting.empty();
      if (idle && (oldest == shelves_.end() || it->second.used < oldest->second.used)) oldest = it;
    }
    if (oldest == shelves_.end()) return;
    drop(oldest->first);
  }
}

void Stock::drop(std::uint32_t generation) {
  const auto found = shelves_.find(generation);
  if (found == shelves_.end()) return;
  bytes_ -= found->second.blocks.size() * content_->shape().block_bytes;
  for (const BlockOrder& order : found->second.waiting) outcomes_.block_made(order.ticket, {});
  shelves_.erase(found);
}

}  // namespace firn::app
