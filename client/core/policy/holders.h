// Who is to send the last rows of a generation: those that hold most of it, in equal parts. A
// neighbour that sends far faster than others which hold as much has a larger part: in equal ones a
// fast source would wait with the receiver for the slow uplinks of others (docs/notes/085).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "client/core/neighbours.h"
#include "client/core/types.h"

namespace firn::core::policy {

// How much each neighbour holds of generations near their end, worked out once for many: where
// there are many, each State would look at all of them again for each generation that it tells of.
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
    // Where of those that hold as much as the neighbour some are far faster than the others: how
    // many come before all of these, how many they are, and which part of what goes to them is the
    // neighbour's, from 0 to 1. Else `to` is 0.
    std::uint32_t above = 0, equals = 0;
    double from = 0, to = 0;

    // Of so many rows that all are to send.
    std::uint32_t rows(std::uint32_t all) const;
  };
  // `turn`: place of the first neighbour; `sifted`: suspects do not count, which goes for few
  // neighbours. What else is told of neighbours and the time are the same in all calls until
  // clear().
  Share share(const Neighbours& neighbours, std::uint32_t g, std::uint32_t turn, bool sifted,
              const Claim& own, TimeUs now);
  void clear() { sorted_.clear(); }

 private:
  struct Sorted {
    std::vector<Claim> claims;
    std::vector<double> to;  // Share::to of each
  };
  Sorted sort(const Neighbours& neighbours, std::uint32_t g, std::uint32_t turn, bool sifted,
              TimeUs now) const;

  std::map<std::uint32_t, Sorted> sorted_;  // by generation
  std::vector<Claim> equals_;               // of a look at few
};

}  // namespace firn::core::policy
