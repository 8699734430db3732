// Coded blocks of verified generations, made ahead of demand (stock_maker.h).
//
// A block that the core calls exchangeable may have any random vector: such blocks come from a
// stock of their generation, which is filled again when it is half empty. When there are too many
// stocks, or too many bytes in them, the stock that was used longest ago goes.
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

namespace firn::app {

// Owner thread.
class Stock {
 public:
  // An order that was taken, but must be made the ordinary way, with its own vector.
  using Unserved = std::function<void(std::uint32_t generation, BlockOrder order)>;

  Stock(std::shared_ptr<const CodedContent> content, TaskLine& tasks, CodingOutcomes& outcomes,
        Unserved unserved);

  // Takes the order if its block comes from a stock, now or later: answered by
  // exchanged_block_made, perhaps before this returns. False: `order` is untouched.
  bool take(BlockOrder& order, std::uint32_t generation);
  // The generation is lost: its stock goes, and blocks that wait are not made.
  void drop(std::uint32_t generation);

 private:
  struct Shelf {
    std::deque<CodedPayload> blocks;
    std::deque<BlockOrder> waiting;
    bool under_way = false;   // more are being made
    std::uint64_t used = 0;   // uses_ when it was used last
    std::uint64_t asked = 0;  // blocks
  };

  void serve(std::uint32_t generation, Shelf& shelf);
  void refill(std::uint32_t generation, Shelf& shelf);
  void refilled(std::uint32_t generation, std::vector<CodedPayload> blocks);
  void leave_unserved(std::uint32_t generation, Shelf& shelf);
  void trim(std::uint32_t keep);

  const std::shared_ptr<const CodedContent> content_;
  CodingOutcomes& outcomes_;
  const Unserved unserved_;
  const std::unique_ptr<StockMaker> maker_;
  std::unordered_map<std::uint32_t, Shelf> shelves_;  // by generation
  std::size_t bytes_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace firn::app
