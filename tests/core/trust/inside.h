// What stands behind the door of trust, for tests of a part of it: beside those of a started core,
// whose neighbours and holdings it sees.
#pragma once

#include "client/core/parts.h"
#include "client/core/trust/regime.h"
#include "tests/core/fixture.h"

namespace firn::test {

struct Inside {
  explicit Inside(core::Parts& parts)
      : world{parts.context, parts.life, parts.membership.neighbours(), parts.membership.count(),
              parts.transfer->generations.holdings()},
        regards(world, verdicts),
        regime(world, verdicts, regards, "") {}

  core::Regard regard(PeerKey peer) const {
    return regards.regard_of(*world.neighbours.find(peer));
  }

  const core::trust::World world;
  core::trust::Verdicts verdicts;
  core::trust::Regards regards;
  core::trust::Regime regime;
};

}  // namespace firn::test
