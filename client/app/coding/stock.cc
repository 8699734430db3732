#include "client/app/coding/stock.h"

#include <algorithm>
#include <utility>

namespace firn::app {
namespace {

constexpr std::size_t kRefillMin = 8;    // blocks made at once
constexpr std::size_t kRefillMax = 64;   // the same
constexpr std::size_t kShelvesMax = 16;  // generations with a stock

}  // namespace

Stock::Stock(std::shared_ptr<const CodedContent> content, TaskLine& tasks, CodingOutcomes& outcomes,
             Unserved unserved)
    : content_(std::move(content)),
      tasks_(tasks),
      outcomes_(outcomes),
      unserved_(std::move(unserved)) {}

bool Stock::take(BlockOrder& order, std::uint32_t generation) {
  BatchCoder* const coder = content_->coder();
  const bool wanted = coder != nullptr && coder->useful() &&
                      order.coefficients.size() == content_->shape().generation_size;
  const auto found = shelves_.find(generation);
  if (!wanted && (found == shelves_.end() || found->second.blocks.empty())) return false;
  // What is not in memory is read as for any other block; the blocks after that one come from here.
  // A generation that had a stock may still be kept by a device.
  if (found == shelves_.end() && !content_->cached(generation)) return false;
  Shelf& shelf = shelves_[generation];
  shelf.used = ++uses_;
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
  if (!shelf.under_way && shelf.blocks.size() <= refill_rows() / 2) refill(generation, shelf);
}

std::size_t Stock::refill_rows() const {
  const Shape& shape = content_->shape();
  const std::size_t room = content_->coder()->options().stock_bytes / 2 / shape.block_bytes;
  const std::size_t fair =
      std::clamp<std::size_t>(shape.generation_size / 8, kRefillMin, kRefillMax);
  return std::max<std::size_t>(1, std::min(room, fair));
}

void Stock::refill(std::uint32_t generation, Shelf& shelf) {
  SharedBuffer source = content_->cached(generation);
  if (!content_->coder()->useful()) return leave_unserved(generation, shelf);
  shelf.under_way = true;
  const Shape& shape = content_->shape();
  content_->coder()->encode(
      {content_->key_of(generation), shape.generation_size, shape.block_bytes, std::move(source),
       refill_rows(), tasks_.unless_gone([this, generation](std::vector<CodedPayload> blocks) {
         refilled(generation, std::move(blocks));
       })});
}

void Stock::refilled(std::uint32_t generation, std::vector<CodedPayload> blocks) {
  const auto found = shelves_.find(generation);
  if (found == shelves_.end()) return;  // lost meanwhile
  Shelf& shelf = found->second;
  shelf.under_way = false;
  // No device has the source blocks any more: they are read again, for the orders that wait.
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
  while (shelves_.size() > kShelvesMax || bytes_ > content_->coder()->options().stock_bytes) {
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
