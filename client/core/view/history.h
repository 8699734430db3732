// What all neighbours, present and past ones, have sent and received. Fresh keys cost nothing, so
// only a bounded number of past ones is kept: those that moved most.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/core/neighbour/neighbours.h"
#include "client/core/view/report.h"

namespace firn::core {

class History {
 public:
  // It is one of `present` from now on.
  void came(const Neighbour& n, const Neighbours& present);
  void left(const Neighbour& n);
  // Where the peer was connected from last; empty: it is not known any more.
  std::string ip_of(const PeerId& id) const;
  // One per peer id, in their order.
  std::vector<NeighbourReport> reports(const Neighbours& present) const;

 private:
  static void add(NeighbourReport& report, const Neighbour& n);
  void make_room(const Neighbours& present);

  struct Past {
    NeighbourReport report;
    std::string ip;
  };
  std::map<PeerId, Past> past_;
};

}  // namespace firn::core
