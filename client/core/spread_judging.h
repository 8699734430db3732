// What a row is worth that a source of a large mesh gives to a neighbour (Neighbour::worth), where
// most neighbours do not know each other: the reports that small meshes go by (contributions.h)
// would say nothing there. It goes by what has come through (spread.h), and by the peers that
// several neighbours have convicted: polluters that all others have banned gather at the source.
// Nobody is banned by it.
#pragma once

#include <optional>
#include <vector>

#include "client/core/membership.h"
#include "client/core/spread.h"
#include "client/core/voices.h"

namespace firn::core {

class SpreadJudging {
 public:
  SpreadJudging(Membership& membership, const Spread& spread);

  // Its Hello has come.
  void greeted(Neighbour& n) const;
  // Reviews all neighbours. True: one turned out to pass next to nothing on (Neighbour::sink).
  bool review(const Voices& voices);

 private:
  using Asked = std::vector<const Neighbour*>;
  Asked ask() const;
  double worth(const Neighbour& of, const Asked& asked, std::optional<double> share,
               double usual_share) const;
  double hearsay(const Neighbour& of, const Asked& asked) const;

  Membership& membership_;
  const Spread& spread_;
};

}  // namespace firn::core
