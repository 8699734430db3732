// Decides which neighbour a receiver asks for which source block while it fetches all generations
// plainly (plain_mode.h) and its neighbours tell what they hold.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "client/core/base/types.h"
#include "client/core/neighbour/neighbours.h"
#include "proto/content/shape.h"

namespace firn::core::trust {

// A receiver asks one of the neighbours that hold a block for it, another one each kPlainTurn.
// Where blocks are longer than kPlainTurnBytes the turn is longer in proportion [079].
inline constexpr TimeUs kPlainTurn = 1 * kSecond;

class PlainShares {
 public:
  explicit PlainShares(const Shape& shape) : shape_(shape) {}

  // Of the blocks of g that are `lacked` those to ask neighbour n for, in order. A block that
  // several hold is asked of one of them alone, another one each turn, so that no two send the same
  // and a neighbour that sends nothing holds it up for that time only; one that has sent nothing
  // for long is asked as well, since it may have held nothing so far. One that nobody is known to
  // hold is asked of a part of all (kPlainPush): the first to get it passes it on before its State
  // comes. Suspects are asked for a single block where others hold some.
  std::vector<std::uint32_t> of(const Neighbours& neighbours, const Neighbour& n, std::uint32_t g,
                                const std::vector<std::uint32_t>& lacked, TimeUs now);
  // Is verified, or not fetched so any more.
  void forget(std::uint32_t g) { turns_.erase(g); }
  // A neighbour has left: blocks may have been asked of it.
  void look_again() { turns_.clear(); }
  // How long one neighbour is asked for a block.
  TimeUs turn_time() const;

 private:
  // Of a generation.
  struct Turn {
    std::uint64_t number = 0;
    TimeUs at = 0;                  // worked out
    std::vector<PeerKey> asked_of;  // by block; kNoPeer: nobody is known to hold it
    bool any_holder = false;
  };
  const Turn& turn_of(const Neighbours& neighbours, std::uint32_t g, TimeUs now);

  Shape shape_;
  std::map<std::uint32_t, Turn> turns_;
};

}  // namespace firn::core::trust
