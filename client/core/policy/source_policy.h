// The sender's side of a source (a peer that had everything from the start): which neighbour gets a
// block of which generation next. Asked only when some socket can take a block, so the choice is as
// late as it can be.
//
// In sequence. One open generation, the lowest of which fewer than n blocks have been served, each
// source block once; to the neighbour served least of late. Before that come rows that have got
// lost (gaps.h), after the first pass the generation the neighbour lacks that was served least.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/core/holdings.h"
#include "client/core/neighbours.h"
#include "client/core/policy/choice.h"
#include "client/core/policy/first_pass.h"
#include "client/core/policy/gaps.h"

namespace firn::core::policy {

// The worth of a row given to a neighbour of which the others received this share of what it was
// given, where this share is usual: within kWorthMin and 1.
double worth_of(double passed_share, double usual_share);

class SourcePolicy {
 public:
  // `dense`: never send source blocks as they are.
  SourcePolicy(const Shape& shape, bool dense);

  std::optional<Choice> choose(const Holdings& holdings, const Neighbours& neighbours,
                               bool small_mesh, std::uint32_t busy_max, TimeUs now);
  // The choice has been sent.
  void served(const Choice& choice, TimeUs now);
  // A neighbour has left that did not have everything.
  void neighbour_lost(PeerKey peer);
  // Some neighbours turned out to pass on next to nothing (Neighbour::sink).
  void rows_lost(const Neighbours& neighbours);
  void set_gap_patience(TimeUs patience) { gaps_.set_patience(patience); }

 private:
  std::optional<std::uint32_t> choose_generation(const Holdings& holdings,
                                                 const Neighbour& neighbour) const;
  bool lacks(const Holdings& holdings, const Neighbour& neighbour, std::uint32_t g) const;
  bool fresh_everywhere(std::uint32_t g, const Neighbours& neighbours) const;
  Choice choice_of(const Neighbour& n, std::uint32_t g, const Neighbours& neighbours);

  Shape shape_;
  bool dense_;
  std::vector<std::uint32_t> next_plain_;  // next systematic block; blocks_in(g): no more
  FirstPass pass_;
  Gaps gaps_;
  double for_doubted_ = 0;  // blocks that those may have who are doubted
};

}  // namespace firn::core::policy
