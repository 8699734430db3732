// Debts that newcomers inherit from peers that came from their network before them.
//
// Identities cost nothing. A peer that takes and gives nothing could come back under a fresh key as
// soon as it is found out, and begin anew: with the blocks that a neighbour may owe (neighbour.h),
// and with the share that a source gives to newcomers (contributions.h). So peers that leave having
// brought nothing new leave what they owe to the next peers of their network (network_of). Peers
// that a source found to pass nothing on, or could not judge yet, leave them the smallest share,
// for a longer time. An honest newcomer behind such an address pays the debt with its first
// innovative row. A source gets no rows, so there the newcomer waits, unless a peer of that network
// whose rows are passed on has left since.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "client/core/base/context.h"
#include "client/core/mesh/membership.h"

namespace firn::core {

// Blocks or rows, to judge by. Less: chance decides; more: judged late.
inline constexpr double kGivenMin = 4;

class Predecessors final : public Part {
 public:
  // The time in which a source gives a newcomer less doubles at most this many times.
  static constexpr std::uint32_t kDoublingsMax = 3;

  Predecessors(const Context& context, const Life& life) : context_(context), life_(life) {}

  // Its Hello has come.
  void greeted(Neighbour& n) const;
  void neighbour_left(const Neighbour& n) override;

 private:
  struct Left {
    std::uint64_t owed = 0;    // blocks
    std::uint32_t barren = 0;  // peers
    TimeUs at = 0;             // the last one left
  };
  void forget();

  const Context& context_;
  const Life& life_;
  std::map<std::string, Left> networks_;
};

}  // namespace firn::core
