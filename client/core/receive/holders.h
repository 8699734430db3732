// How a receiver divides the last missing rows of a generation among the neighbours that hold some
// of it: in equal parts, the highest ranks first. Among equal ranks a neighbour that sends far
// faster than the others gets a larger part; with equal parts the receiver would have to wait for
// slow uplinks while a fast source has nothing to send (docs/lab/085).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "client/core/base/types.h"
#include "client/core/neighbour/neighbours.h"

namespace firn::core::policy {

// What each neighbour holds of generations near their end. With many neighbours it is worked out
// once for all States; otherwise each State would look at all neighbours for each generation.
class Holders {
 public:
  struct Claim {
    std::uint32_t rank = 0, place = 0;
    double rate = 0;  // bytes a second that come from it
    // Larger ranks come first, of equal ones the lower place.
    bool operator<(const Claim& other) const {
      return rank != other.rank ? rank > other.rank : place < other.place;
    }
  };
  struct Share {
    std::uint32_t holders = 0;  // that have not stalled and send what is new
    std::uint32_t before = 0;   // of them, that come before the neighbour
    // `above`: holders of higher rank than the neighbour; `equals`: those of its rank, itself among
    // them. Where one of the equals sends far faster than the others, the neighbour's part of the
    // rows that the equals get reaches from `from` to `to` (0 to 1). Else `to` is 0.
    std::uint32_t above = 0, equals = 0;
    double from = 0, to = 0;

    // How many rows the neighbour is to send of `missing` that all holders send together.
    std::uint32_t rows(std::uint32_t missing) const;
  };
  // `turn`: place of the first neighbour; `sifted`: suspects do not count, which goes for few
  // neighbours. What else is told of neighbours and the time are the same in all calls until
  // clear().
  Share share(const Neighbours& neighbours, std::uint32_t g, std::uint32_t turn, bool sifted,
              const Claim& own, TimeUs now);
  void clear() { sorted_.clear(); }

 private:
  Share share_among_few(const Neighbours& neighbours, std::uint32_t g, std::uint32_t turn,
                        bool sifted, const Claim& own, TimeUs now);

  struct Sorted {
    std::vector<Claim> claims;
    std::vector<double> to;  // Share::to of each
  };
  Sorted sort(const Neighbours& neighbours, std::uint32_t g, std::uint32_t turn, bool sifted,
              TimeUs now) const;

  std::map<std::uint32_t, Sorted> sorted_;  // by generation
  std::vector<Claim> equals_;               // of share_among_few()
};

}  // namespace firn::core::policy
