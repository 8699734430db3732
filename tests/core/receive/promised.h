// What Promises keeps, by a look at all neighbours.
#pragma once

#include "client/core/neighbour/neighbours.h"
#include "tests/core/fixture.h"

namespace firn::test {

inline std::uint64_t promised_blocks(const core::Neighbours& neighbours, TimeUs now) {
  std::uint64_t sum = 0;
  for (const core::Neighbour& n : neighbours) {
    if (!n.grants.stalled(now) && n.useful()) sum += n.grants.outstanding();
  }
  return sum;
}

}  // namespace firn::test
