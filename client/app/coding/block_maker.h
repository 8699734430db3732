// Makes the blocks that are to be sent.
//
//   source block of a cached generation: one copy, at once
//   exchangeable, asked for often:       from the stock (with a device: always, once its generation
//                                        is in memory)
//   else:                                waits for the generation's job, and is made by it
//
// Blocks of one generation that are asked for while its job is under way wait and go together into
// the next one, as one matrix product: the batch grows with the load by itself. Small jobs are done
// on the owner thread (runtime/loop_budget.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "client/app/coding/block_product.h"
#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/lost_generations.h"
#include "client/app/coding/read_ahead.h"
#include "client/app/coding/spooler.h"
#include "client/app/coding/stock.h"
#include "client/app/coding/task_line.h"
#include "client/app/coding/turn_clock.h"
#include "client/core/base/actions.h"

namespace firn::app {

// What a core::SendBlock says of a block's payload. The spans are those of the action's vectors,
// also after these were moved elsewhere; they need to live while make() runs.
struct BlockWanted {
  BlockWanted(const core::SendBlock& action)  // NOLINT: the two mean the same
      : generation(action.block.generation),
        source_index(action.block.source_index),
        coefficients(action.block.coefficients),
        slots(action.slots),
        mix(action.mix),
        exchangeable(action.exchangeable) {}

  std::uint32_t generation;
  std::optional<std::uint32_t> source_index;
  std::span<const std::uint8_t> coefficients;
  std::span<const std::uint32_t> slots;
  std::span<const std::uint8_t> mix;
  bool exchangeable;
};

// Owner thread.
class BlockMaker {
 public:
  static constexpr std::size_t kBlocksAtOnce = 64;  // in one job
  static constexpr core::TimeUs kReadInterval = 2 * core::kSecond;
  // Of a generation, at that interval; then it is not served until it can be read.
  static constexpr unsigned kReadTries = 5;

  BlockMaker(std::shared_ptr<const CodedContent> content, TaskLine& tasks, const TurnClock& clock,
             Spooler& rows, Stock& stock, LostGenerations& losses, CodingOutcomes& outcomes);

  // All generations are verified and will be asked for more or less in sequence.
  void serve_everything() { ahead_.enable(); }
  // Answered by block_made or exchanged_block_made, perhaps before this returns.
  void make(std::uint64_t ticket, const BlockWanted& wanted);
  // The order waits for its generation's job.
  void queue(std::uint32_t generation, BlockOrder order);
  // A verified generation was read and is not right: it is lost, as if a job had found that out.
  // False: a block of it is being made; ask again later.
  bool found_false(std::uint32_t generation, const Error& error);

  // Starts the jobs of what was queued. Small ones are done when it returns.
  void flush();
  void wake();
  core::TimeUs next_wake() const { return read_again_at_; }

 private:
  struct Line {
    std::vector<BlockOrder> waiting;
    bool under_way = false;  // or waits to be read again
    unsigned failures = 0;   // to read it, one after the other
  };

  bool copy_from_cache(const BlockOrder& order, std::uint32_t generation);
  void start(std::uint32_t generation, Line& line);
  void offer_to_stock(std::uint32_t generation, Line& line);
  void make_verified(std::uint32_t generation, std::vector<BlockOrder> orders);
  void recode(std::uint32_t generation, std::vector<BlockOrder> orders);
  void perform(std::uint32_t generation, std::uint64_t multiply_adds, bool at_hand,
               WorkerPool::Task task);
  void made(std::uint32_t generation, const std::vector<BlockOrder>& orders,
            std::vector<proto::Payload>& blocks);

  void unreadable(std::uint32_t generation, const Error& error, std::vector<BlockOrder> orders);
  bool read_again_later(std::uint32_t generation, const Error& error,
                        std::vector<BlockOrder>& orders);
  void read_again();
  void give_up(std::uint32_t generation, std::vector<BlockOrder> orders);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  const TurnClock& clock_;
  Spooler& rows_;
  Stock& stock_;
  LostGenerations& losses_;
  CodingOutcomes& outcomes_;
  ReadAhead ahead_;
  std::unordered_map<std::uint32_t, Line> lines_;  // by generation
  std::vector<std::uint32_t> changed_;             // lines that may have something to start
  std::vector<std::uint32_t> unread_;              // generations to read again at read_again_at_
  core::TimeUs read_again_at_ = core::kNever;
};

}  // namespace firn::app
