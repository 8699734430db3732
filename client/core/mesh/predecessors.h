// What newcomers begin with for the sake of those that came from their network before them.
//
// Identities cost nothing. A peer that takes and gives nothing may come back under a fresh key as
// soon as it is found out, and would begin anew: with what a neighbour may owe (neighbour.h), and
// with the part of a share that a source gives to newcomers (contributions.h). So peers that leave
// having brought nothing new leave what they owe to the next ones from their network (network_of);
// and those that a source has found to pass nothing on, or could not judge yet, leave them the
// least part of a share, for longer. With its first new row an honest newcomer behind such an
// address owes nothing any more. A source has no such sign: there it waits, unless a peer from
// there whose rows are passed on has left since.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "client/core/base/context.h"
#include "client/core/mesh/membership.h"

namespace firn::core {

class Predecessors final : public Part {
 public:
  // So often at most the time doubles in which a source gives a newcomer less.
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
