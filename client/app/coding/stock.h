// Coded blocks of verified generations, made ahead of demand (stock_maker.h).
//
// A block that the core calls exchangeable may have any random vector: such blocks come from a
// stock of their generation, which is filled again when it is half empty. How many blocks it has
// follows from how many were asked for (StockMaker::ahead). When there are too many stocks, or too
// many bytes in them, the stock that was used longest ago makes way, but only as long as few blocks
// are thrown away of those that were asked for: beyond that nothing is made ahead. When no block
// was asked for for a minute, all go: contents share the room for them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "client/app/coding/block_product.h"
#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/stock_maker.h"
#include "client/app/coding/task_line.h"
#include "client/app/coding/turn_clock.h"

namespace firn::app {

// Owner thread.
class Stock {
 public:
  // An order that was taken, but must be made the ordinary way, with its own vector.
  using Unserved = std::function<void(std::uint32_t generation, BlockOrder order)>;

  static constexpr core::TimeUs kIdleMax = 60 * core::kSecond;

  Stock(std::shared_ptr<const CodedContent> content, std::unique_ptr<StockMaker> maker,
        const TurnClock& clock, CodingOutcomes& outcomes, Unserved unserved);

  // Takes the order if its block comes from a stock, now or later: answered by
  // exchanged_block_made, perhaps before this returns. False: `order` is untouched.
  bool take(BlockOrder& order, std::uint32_t generation);
  // The same where a block lies ready: for this ticket, with no need of an order.
  bool take_ready(std::uint64_t ticket, std::uint32_t generation);
  // Blocks of the generation are likely to come without its source blocks being read once more.
  bool keeps(std::uint32_t generation) const {
    return shelves_.contains(generation) && maker_->keeps(generation);
  }
  // The generation is lost: its stock goes, and blocks that wait are not made.
  void drop(std::uint32_t generation);

  void wake();
  core::TimeUs next_wake() const { return give_back_at_; }

 private:
  struct Shelf {
    std::deque<CodedPayload> blocks;
    std::deque<BlockOrder> waiting;
    std::size_t under_way = 0;  // blocks that are being made
    std::uint64_t used = 0;     // uses_ when it was used last
    std::uint64_t asked = 0;    // blocks
  };

  using Shelves = std::unordered_map<std::uint32_t, Shelf>;  // by generation

  void note_use(Shelf& shelf);
  void hand_out(std::uint64_t ticket, Shelf& shelf);
  void serve(std::uint32_t generation, Shelf& shelf);
  void refill(std::uint32_t generation, Shelf& shelf);
  void refilled(std::uint32_t generation, std::vector<CodedPayload> blocks);
  void leave_unserved(std::uint32_t generation, Shelf& shelf);
  std::size_t ahead(std::uint32_t generation, const Shelf& shelf);
  std::size_t block_cost() const;
  void count(std::size_t more, std::size_t fewer);
  bool too_much_lost(std::size_t more) const;
  bool make_room(std::uint32_t generation, std::size_t blocks);
  void drop_oldest();
  Shelves::const_iterator oldest_idle(std::uint32_t but) const;
  void throw_away(std::uint32_t generation);
  void give_back();

  const std::shared_ptr<const CodedContent> content_;
  const TurnClock& clock_;
  CodingOutcomes& outcomes_;
  const Unserved unserved_;
  const std::unique_ptr<StockMaker> maker_;
  Shelves shelves_;
  std::size_t blocks_ = 0;  // on all shelves, or on their way there
  std::uint64_t uses_ = 0;
  std::uint64_t thrown_away_ = 0;  // blocks, to make room
  core::TimeUs give_back_at_ = core::kNever;
};

}  // namespace firn::app
