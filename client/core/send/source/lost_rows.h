// Finds lost rows: those that the swarm lacks although a source has sent a whole generation,
// because they went to a peer that passes nothing on, or that has left. Relays cannot replace them,
// and their rows of the generation are of no use until the source does.
//
// The source knows only the ranks that its neighbours report. One that lies can hide them, or feign
// some, until the first pass is over and each neighbour is sent what it lacks. A generation stands
// still if its highest rank has not grown for kStallTime. During the first pass that alone says
// little: a source faster than the relays is far ahead of them, and they serve the lowest
// generations first. So during the first pass a neighbour must also hold a later generation in
// full, or a neighbour must have left since.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "client/core/neighbour/neighbours.h"
#include "proto/content/shape.h"

namespace firn::core::policy {

// How often a source looks for rows that have got lost: a generation stands still for kStallTime.
// The conditions below keep it from interrupting its first pass too easily [014]. Half: +3 % where
// polluters turn; more: what is lost is sent late.
inline constexpr TimeUs kLostRowsReview = 100 * kMillisecond;

// A neighbour holds all of the generation, and is no sink: what a sink holds is lost to others.
bool somebody_has(const Neighbours& neighbours, std::uint32_t g);

class LostRows {
 public:
  explicit LostRows(const Shape& shape) : shape_(shape) {}

  // Looks at the generations below `passed`, which were sent in whole; now and then, whenever it is
  // called. `first_pass`: others are still to be sent.
  // One stands still that has not grown for kStallTime. True: it looked, and there are some.
  bool review(const Neighbours& neighbours, std::uint32_t passed, bool first_pass, TimeUs now);
  // A neighbour has left that did not have everything.
  void neighbour_lost(std::uint32_t passed);

  struct Loss {
    std::uint32_t generation = 0;
    std::uint32_t rows = 0;  // still to be sent before the next review
  };
  // Lowest generation first.
  const std::vector<Loss>& losses() const { return lost_rows_; }
  // Rows of g were lost, and nobody has it in whole since.
  bool lost(std::uint32_t g) const {
    const auto known = watched_.find(g);
    return known != watched_.end() && known->second.lost;
  }
  // A block of g has been sent.
  void served(std::uint32_t g, TimeUs now);

 private:
  struct Watched {
    std::uint32_t rank = 0;  // the highest that a neighbour has told
    bool lost = false;
    TimeUs since = 0;  // when it grew, or when we sent rows to make it grow
  };
  // From from_ on: highest rank reported, and highest counting blocks in flight.
  using Ranks = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  void find_first(const Neighbours& neighbours, std::uint32_t passed);
  Ranks ranks_until(std::uint32_t end, const Neighbours& neighbours) const;

  Shape shape_;
  std::size_t seen_ = 0;                      // neighbours, when it looked last
  std::uint32_t from_ = 0;                    // lowest generation that no neighbour has in whole
  std::uint32_t lost_below_ = 0;              // those below were sent before somebody left
  std::map<std::uint32_t, Watched> watched_;  // by generation
  std::vector<Loss> lost_rows_;
  TimeUs reviewed_ = 0;
};

}  // namespace firn::core::policy
