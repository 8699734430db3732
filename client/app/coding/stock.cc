#include "client/app/coding/stock.h"

#include <algorithm>
#include <utility>

namespace firn::app {
namespace {

constexpr std::size_t kBlocksAtOnce = 128;  // that are made together
// Blocks thrown away: one of this many that were asked for, and a few before there are that many.
constexpr std::uint64_t kThrownAwayShare = 32;
constexpr std::uint64_t kThrownAwayAtFirst = 32;

}  // namespace

Stock::Stock(std::shared_ptr<const CodedContent> content, std::unique_ptr<StockMaker> maker,
             const TurnClock& clock, CodingOutcomes& outcomes, Unserved unserved)
    : content_(std::move(content)),
      clock_(clock),
      outcomes_(outcomes),
      unserved_(std::move(unserved)),
      maker_(std::move(maker)) {}

bool Stock::take(BlockOrder& order, std::uint32_t generation) {
  const bool wanted =
      maker_->useful() && order.coefficients.size() == content_->shape().generation_size;
  const auto found = shelves_.find(generation);
  if (!wanted && (found == shelves_.end() || found->second.blocks.empty())) return false;
  // What is not in memory is read as for any other block; the blocks after that one come from here.
  // A generation that had a stock may still be kept by a device.
  if (found == shelves_.end() && !content_->cached(generation)) return false;
  if (found == shelves_.end() && shelves_.size() >= maker_->generations_max()) drop_oldest();
  Shelf& shelf = shelves_[generation];
  note_use(shelf);
  if (!maker_->keeps_sources() && maker_->ahead(shelf.asked) == 0 && shelf.blocks.empty())
    return false;
  shelf.waiting.push_back(std::move(order));
  serve(generation, shelf);
  return true;
}

bool Stock::take_ready(std::uint64_t ticket, std::uint32_t generation) {
  const auto found = shelves_.find(generation);
  if (found == shelves_.end()) return false;
  Shelf& shelf = found->second;
  if (!shelf.waiting.empty() || shelf.blocks.empty()) return false;
  note_use(shelf);
  hand_out(ticket, shelf);
  if (shelf.under_way == 0) refill(generation, shelf);
  return true;
}

void Stock::note_use(Shelf& shelf) {
  shelf.used = ++uses_;
  ++shelf.asked;
  give_back_at_ = clock_.now() + kIdleMax;
}

void Stock::hand_out(std::uint64_t ticket, Shelf& shelf) {
  CodedPayload block = std::move(shelf.blocks.front());
  shelf.blocks.pop_front();
  count(0, 1);
  outcomes_.exchanged_block_made(ticket, std::move(block.vector), std::move(block.payload));
}

void Stock::serve(std::uint32_t generation, Shelf& shelf) {
  while (!shelf.waiting.empty() && !shelf.blocks.empty()) {
    const std::uint64_t ticket = shelf.waiting.front().ticket;
    shelf.waiting.pop_front();
    hand_out(ticket, shelf);
  }
  if (shelf.under_way == 0) refill(generation, shelf);
}

void Stock::refill(std::uint32_t generation, Shelf& shelf) {
  if (!maker_->useful()) return leave_unserved(generation, shelf);
  const std::size_t ahead = this->ahead(generation, shelf);
  const std::size_t wanted = shelf.waiting.size() + ahead;
  if (shelf.waiting.empty() && shelf.blocks.size() > ahead / 2) return;
  if (wanted <= shelf.blocks.size()) return;
  shelf.under_way = std::min(wanted - shelf.blocks.size(), kBlocksAtOnce);
  count(shelf.under_way, 0);
  maker_->make(generation, content_->cached(generation), shelf.under_way,
               [this, generation](std::vector<CodedPayload> blocks) {
                 refilled(generation, std::move(blocks));
               });
}

void Stock::refilled(std::uint32_t generation, std::vector<CodedPayload> blocks) {
  content_->counts().stocked(blocks.size());
  const auto found = shelves_.find(generation);
  if (found == shelves_.end()) return content_->counts().thrown_away(blocks.size());  // lost
  Shelf& shelf = found->second;
  count(blocks.size(), std::exchange(shelf.under_way, 0));
  // Nobody has the source blocks any more: they are read again, for the orders that wait.
  if (blocks.empty()) return leave_unserved(generation, shelf);
  for (CodedPayload& block : blocks) shelf.blocks.push_back(std::move(block));
  serve(generation, shelf);
}

void Stock::leave_unserved(std::uint32_t generation, Shelf& shelf) {
  for (BlockOrder& order : shelf.waiting) {
    order.exchangeable = false;  // or it would be offered here again
    unserved_(generation, std::move(order));
  }
  shelf.waiting.clear();
}

// Blocks to have ready of the generation, as far as there is room for them.
std::size_t Stock::ahead(std::uint32_t generation, const Shelf& shelf) {
  if (too_much_lost(0)) return 0;
  const std::size_t ahead = maker_->ahead(shelf.asked);
  const std::size_t more = ahead > shelf.blocks.size() ? ahead - shelf.blocks.size() : 0;
  return more == 0 || make_room(generation, more) ? ahead : 0;
}

// Payload and vector.
std::size_t Stock::block_cost() const {
  return content_->shape().block_bytes + content_->shape().generation_size;
}

void Stock::count(std::size_t more, std::size_t fewer) {
  blocks_ += more;
  blocks_ -= fewer;
  maker_->holding(blocks_ * block_cost());
}

// Of what a device makes, which takes it from nothing else. Workers make no more ahead than a part
// of what was asked for.
bool Stock::too_much_lost(std::size_t more) const {
  return maker_->keeps_sources() &&
         thrown_away_ + more > kThrownAwayAtFirst + uses_ / kThrownAwayShare;
}

// The least recently used stocks go to make room for blocks of this generation. False: there is no
// room, or too many blocks would be lost.
bool Stock::make_room(std::uint32_t generation, std::size_t blocks) {
  const std::size_t blocks_max = maker_->bytes_max() / block_cost();
  while (blocks_ + blocks > blocks_max) {
    const auto oldest = oldest_idle(generation);
    if (oldest == shelves_.end()) return false;
    if (too_much_lost(oldest->second.blocks.size())) return false;
    throw_away(oldest->first);
  }
  return true;
}

void Stock::drop_oldest() {
  const auto oldest = oldest_idle(UINT32_MAX);
  if (oldest != shelves_.end()) throw_away(oldest->first);
}

Stock::Shelves::const_iterator Stock::oldest_idle(std::uint32_t but) const {
  auto oldest = shelves_.end();
  for (auto it = shelves_.begin(); it != shelves_.end(); ++it) {
    const bool idle = it->first != but && it->second.under_way == 0 && it->second.waiting.empty();
    if (idle && (oldest == shelves_.end() || it->second.used < oldest->second.used)) oldest = it;
  }
  return oldest;
}

void Stock::throw_away(std::uint32_t generation) {
  thrown_away_ += shelves_.at(generation).blocks.size();
  drop(generation);
}

// Shelves stay: what they know of demand is right when it comes back. Blocks that are being made
// now are given back when that time has passed once more.
void Stock::give_back() {
  for (auto& [generation, shelf] : shelves_) {
    count(0, shelf.blocks.size());
    content_->counts().thrown_away(shelf.blocks.size());
    shelf.blocks.clear();
  }
}

void Stock::wake() {
  if (clock_.now() < give_back_at_) return;
  give_back();
  give_back_at_ = blocks_ > 0 ? clock_.now() + kIdleMax : core::kNever;
}

void Stock::drop(std::uint32_t generation) {
  const auto found = shelves_.find(generation);
  if (found == shelves_.end()) return;
  count(0, found->second.blocks.size() + found->second.under_way);
  content_->counts().thrown_away(found->second.blocks.size());
  for (const BlockOrder& order : found->second.waiting) outcomes_.block_made(order.ticket, {});
  shelves_.erase(found);
}

}  // namespace firn::app
