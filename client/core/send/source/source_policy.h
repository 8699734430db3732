// The sender's side of a source (a peer that had everything from the start): which neighbour gets a
// block of which generation next. Asked only when some socket can take a block, so the choice is as
// late as it can be.
//
// Generations are served in sequence (super-seeding): one generation is open, the lowest of which
// fewer than n blocks have been served, and each source block goes out once, to the neighbour
// served least of late. Rows that have got lost (lost_rows.h) come before that. After the first
// pass the source serves, of the generations that a neighbour lacks, the one that it served least.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/core/base/why_not.h"
#include "client/core/neighbour/neighbours.h"
#include "client/core/rows/holdings.h"
#include "client/core/send/choice/choice.h"
#include "client/core/send/choice/late_binding.h"
#include "client/core/send/source/first_pass.h"
#include "client/core/send/source/lost_rows.h"
#include "client/core/send/source/plain_pass.h"
#include "client/core/send/source/source_line.h"

namespace firn::core::policy {

// The worth of a row given to a neighbour of which the others received this share of what it was
// given, where this share is usual: within kWorthMin and 1.
double worth_of(double passed_share, double usual_share);

class SourcePolicy {
 public:
  // `dense`: never send source blocks as they are.
  SourcePolicy(const Shape& shape, bool dense);

  // Something about the neighbour has changed: its State, its queue.
  void told(const Neighbour& n);
  // What the rows of neighbours are worth, or which generations can be served, has changed.
  void look_again() { look_at_all_ = true; }

  std::optional<Choice> choose(const Holdings& holdings, const Neighbours& neighbours,
                               bool small_mesh, const Sockets& sockets, TimeUs now);
  // Why the neighbour is not chosen; nullopt: it is, in its turn.
  std::optional<WhyNot> why_not(const Holdings& holdings, const Neighbour& neighbour,
                                const Sockets& sockets) const;
  // One more block of the last choice's generation for its neighbour; nullopt: it takes none.
  std::optional<Choice> again(const Choice& last, const Holdings& holdings,
                              const Neighbours& neighbours);
  // The choice has been sent.
  void served(const Choice& choice, TimeUs now);
  // SourceLine::some_hurry.
  bool some_hurry() const { return line_.some_hurry(); }
  // The neighbour leaves.
  void neighbour_left(const Neighbour& n);
  // Some neighbours turned out to pass on next to nothing (Neighbour::sink).
  void rows_lost(const Neighbours& neighbours);

 private:
  struct Best {
    PeerKey peer = kNoPeer;
    std::uint32_t generation = 0;
    double key = 0;  // SourceLine::key
  };
  void refresh(const Neighbours& neighbours, bool small_mesh, TimeUs now);
  Best best_of(bool low_worth, const Holdings& holdings, const Neighbours& neighbours,
               const Sockets& sockets);
  std::optional<std::uint32_t> choose_generation(const Holdings& holdings,
                                                 const Neighbour& neighbour) const;
  void line_up(const Neighbour& n);
  std::optional<std::uint32_t> urgent(const Holdings& holdings, const Neighbour& neighbour) const;
  std::optional<std::uint32_t> not_passed(const Holdings& holdings,
                                          const Neighbour& neighbour) const;
  std::optional<std::uint32_t> among_first(const Holdings& holdings,
                                           const Neighbour& neighbour) const;
  std::optional<std::uint32_t> among_open(const Holdings& holdings,
                                          const Neighbour& neighbour) const;
  std::uint32_t among(const Neighbour& neighbour) const;
  bool shares_plainly(const Neighbour& neighbour, std::uint32_t g) const;
  std::optional<WhyNot> why_none_of(std::uint32_t g, const Holdings& holdings,
                                    const Neighbour& neighbour) const;
  bool lacks(const Holdings& holdings, const Neighbour& neighbour, std::uint32_t g) const {
    return !why_none_of(g, holdings, neighbour);
  }
  bool fresh_everywhere(std::uint32_t g, const Neighbours& neighbours) const;
  Choice choice_of(const Neighbour& n, std::uint32_t g, const Neighbours& neighbours);

  Shape shape_;
  bool dense_;
  std::uint32_t among_max_;                // generations that the second pass chooses from, at most
  std::vector<std::uint32_t> next_plain_;  // next systematic block; blocks_in(g): no more
  FirstPass pass_;
  PlainPass plain_pass_;
  LostRows lost_rows_;
  SourceLine line_;
  SourceLine::Circumstances circumstances_;
  UplinkClaims claims_;
  bool look_at_all_ = true;
  std::uint32_t looked_from_ = 0;  // the cursor when those left out were looked at last
  double for_low_worth_ = 0;       // blocks that low_worth neighbours may have
};

}  // namespace firn::core::policy
