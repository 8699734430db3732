// What a neighbour holds and wants, as its States tell, and what is on its way to it. What States
// tell cannot be checked.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "client/core/neighbour/block_bits.h"
#include "client/core/neighbour/remote_generations.h"
#include "client/core/rows/generation_set.h"
#include "client/core/rows/holdings.h"
#include "client/core/rows/recent_changes.h"
#include "proto/content/shape.h"
#include "proto/messages.h"

namespace firn::core {

// Of one neighbour. Less: gaps are told late; more: n bytes each.
inline constexpr std::size_t kNullVectorsKept = 16;

// A vector orthogonal to all that a neighbour holds of a generation, as it sent it.
class NullVector {
 public:
  explicit NullVector(std::vector<std::uint8_t> z) : z_(std::move(z)) {}
  const std::vector<std::uint8_t>& z() const { return z_; }
  // Whether some combination of what this peer has for the neighbour (`rank` rows) is news to it:
  // asks reaches(), and remembers the answer for a rank.
  template <typename Reaches>
  bool reached_by(std::uint32_t rank, Reaches&& reaches) const {
    if (tested_at_ != rank) {
      reached_ = reaches();
      tested_at_ = rank;
    }
    return reached_;
  }

 private:
  std::vector<std::uint8_t> z_;
  mutable std::uint32_t tested_at_ = UINT32_MAX;
  mutable bool reached_ = false;
};

class RemoteHoldings {
 public:
  // Called once the shape is known; forgets what was known of generations.
  void set_shape(const Shape& shape);

  // Takes over what a State says of holdings. False if it breaks a rule (a generation that does not
  // exist, a rank above n, a null vector of wrong length). `next_sequence`: of the next block that
  // is sent to it.
  bool apply(proto::State&& state, std::uint32_t next_sequence);
  // Its first State has come.
  bool heard() const { return heard_; }

  // Generations that it has verified.
  const GenerationSet& complete() const { return complete_; }
  bool has_everything() const { return heard_ && complete_.full(); }
  // Generations of which it takes no rows: those it has in whole, and those it does not want.
  const GenerationSet& settled() const { return settled_; }
  bool wants(std::uint32_t g) const { return !settled_.contains(g); }
  // It needs no more blocks of anything.
  bool satisfied() const { return heard_ && settled_.full(); }
  // It needs blocks of some generation, and its quotas let them come.
  bool asks() const;
  // Generations that it reads now, kUrgentMax at most: those that its reader awaits (false), then
  // those that are read soon (true).
  const std::set<std::pair<bool, std::uint32_t>>& urgent() const { return urgent_; }
  // Generations that it held in whole once and says that it cannot serve any more; of size 0 where
  // it has said so of none.
  const GenerationSet& withdrawn() const { return withdrawn_; }
  std::uint32_t rank(std::uint32_t g) const {
    if (complete_.contains(g)) return shape_.blocks_in(g);
    const RemoteGeneration* known = partial_.find(g);
    return known ? known->rank : 0;
  }
  // Rank over all generations.
  std::uint64_t total_rank() const { return total_rank_; }
  // Rows that it neither has nor wants.
  std::uint64_t rows_spared() const { return rows_spared_; }
  // It has or wants at least half of the generations that the other one has or wants, whose
  // settled() and complete() these are (Holdings: verified()).
  bool shares_interest(const GenerationSet& settled, const GenerationSet& complete) const;
  const RemoteGenerations& partial() const { return partial_; }
  // Generations of which more may be news to it than before: what it holds or wants of them has
  // changed, or what is on its way to it will not come.
  const RecentChanges& changes() const { return changes_; }
  // The null vector of g; null if there is none. RemoteGeneration::has_null_vector says so at once.
  const NullVector* null_vector(std::uint32_t g) const;

  // The source blocks that it asks for, where it takes no others of g (RemoteGeneration::plain);
  // else null.
  const WantedSet* wanted_blocks(std::uint32_t g) const { return wanted_blocks_.find(g); }

  // Those that it says it holds, where it fetches all generations plainly (plain_mode.h).
  const HeldBlocks& held_blocks() const { return held_blocks_; }

  // Which rows it takes combinations of.
  Rows takes() const { return takes_; }
  // It has other sources: systematic blocks would come twice.
  bool prefers_coded() const { return prefers_coded_; }
  // What it says of its uplink, KiB a second, and of its connections; 0: not known.
  std::uint32_t upload_kib() const { return upload_kib_; }
  std::uint32_t connections() const { return connections_; }

  // A block of g is on its way to it under this number, or not any more.
  void in_flight(std::uint32_t g, std::uint32_t sequence);
  void not_in_flight(std::uint32_t g, std::uint32_t sequence);
  // That block mixes the rows in these slots.
  void mixture_sent(std::uint32_t g, const std::vector<std::uint32_t>& slots);
  // These slots (null: all of the generation's) have lost their rows, and are free for others,
  // which are news to the neighbour whatever was sent of the lost ones.
  void rows_gone(std::uint32_t g, const std::vector<std::uint32_t>* slots);
  // That block is source block i, which it asked for.
  void source_block_sent(std::uint32_t g, std::uint32_t i) {
    if (WantedSet* const wanted = wanted_blocks_.find(g)) wanted->sent(i);
  }

 private:
  // What one or two States tell of. A reader that has missed more looks at all generations.
  static constexpr std::size_t kChangesKept = 64;

  bool apply_rank(proto::GenerationState&& update, std::uint32_t next_sequence);
  void keep_null_vector(std::uint32_t g, std::vector<std::uint8_t>&& z,
                        std::uint32_t next_sequence);
  void drop_null_vector(std::uint32_t g);
  void forget_partial(std::uint32_t g);
  void not_urgent(std::uint32_t g) {
    for (const bool soon : {false, true}) urgent_.erase({soon, g});
  }
  void mark_complete(std::uint32_t g);
  void mark_incomplete(std::uint32_t g);
  bool take_back(const proto::State& state);
  void withdraw(const proto::Span& span);
  void settle_unwanted(const proto::Span& span);
  // g's part of rows_spared_.
  std::uint32_t spared(std::uint32_t g) const {
    return settled_.contains(g) ? shape_.blocks_in(g) - rank(g) : 0;
  }

  bool heard_ = false;
  bool prefers_coded_ = false;
  Rows takes_ = Rows::kAll;
  std::uint32_t upload_kib_ = 0;
  std::uint32_t connections_ = 0;
  std::uint64_t total_rank_ = 0;
  std::uint64_t rows_spared_ = 0;
  Shape shape_;
  GenerationSet complete_;
  GenerationSet settled_;    // complete_, and what it does not want
  GenerationSet withdrawn_;  // none of complete_
  RemoteGenerations partial_;
  std::set<std::pair<bool, std::uint32_t>> urgent_;  // of partial_
  RecentChanges changes_{kChangesKept};
  std::uint64_t taken_back_ = 0;  // generations that spans made incomplete again
  std::uint64_t states_ = 0;
  WantedBlocks wanted_blocks_;
  HeldBlocks held_blocks_;
  std::vector<std::pair<std::uint32_t, NullVector>> null_vectors_;  // by generation, oldest first
};

}  // namespace firn::core
