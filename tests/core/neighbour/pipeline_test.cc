// What a neighbour is sent, from its choice to its acknowledgement.
#include "client/core/neighbour/pipeline.h"

#include <doctest/doctest.h>

#include "client/core/neighbour/remote_holdings.h"

using firn::core::Pipeline;
using firn::core::RemoteHoldings;

TEST_CASE("a neighbour that acknowledges nothing gets no more than may be remembered of it") {
  Pipeline pipe;
  RemoteHoldings holds;
  holds.set_shape({4, 16, 1 << 20});
  pipe.raise_credit(UINT32_MAX);
  std::uint32_t sent = 0;
  for (; pipe.has_credit() && sent < 100'000; ++sent) {
    pipe.book(sent % holds.complete().size(), 0);
    pipe.departed(16, holds, 0);
  }
  CHECK(sent == Pipeline::kInFlightMax);
  CHECK(pipe.in_flight() == Pipeline::kInFlightMax);
  CHECK(pipe.acknowledge(sent - 10, holds));
  CHECK(pipe.in_flight() == 10);
  CHECK(pipe.has_credit());
  CHECK_FALSE(pipe.acknowledge(sent + 1, holds));
}
