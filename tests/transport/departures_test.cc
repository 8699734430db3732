#include "proto/transport/departures.h"

#include <doctest/doctest.h>

#include <vector>

namespace firn::proto::transport {
namespace {

std::vector<FrameTag> all_next(Departures& departures, std::size_t unsent_bytes) {
  std::vector<FrameTag> left;
  while (const FrameTag tag = departures.next(unsent_bytes)) left.push_back(tag);
  return left;
}

using Tags = std::vector<FrameTag>;

TEST_CASE("a frame has departed when all of its bytes have, and is told of once") {
  Departures departures;
  departures.add(100, 5);
  CHECK(all_next(departures, 100).empty());
  CHECK(all_next(departures, 1).empty());
  CHECK(all_next(departures, 0) == Tags{5});
  CHECK(all_next(departures, 0).empty());
}

TEST_CASE("frames depart in order, and those without a tag are passed over") {
  Departures departures;
  departures.add(10, 3);
  departures.add(1000, kUntagged);
  departures.add(20, 2);
  departures.add(30, 3);  // tags are the sender's own business, and may come again
  CHECK(all_next(departures, 1050) == Tags{3});
  CHECK(all_next(departures, 51).empty());
  CHECK(all_next(departures, 30) == Tags{2});
  departures.add(5, kUntagged);
  CHECK(all_next(departures, 6).empty());
  CHECK(all_next(departures, 5) == Tags{3});
}

TEST_CASE("more may stand in the queues of the path than frames were given: nothing has left") {
  Departures departures;
  departures.add(100, 1);
  CHECK(all_next(departures, 122).empty());
  CHECK(all_next(departures, 0) == Tags{1});
}

TEST_CASE("what is reported to stand in queues may grow again: no frame departs twice") {
  Departures departures;
  departures.add(100, 1);
  departures.add(100, 2);
  CHECK(all_next(departures, 100) == Tags{1});
  CHECK(all_next(departures, 180).empty());
  CHECK(all_next(departures, 100).empty());
  CHECK(all_next(departures, 0) == Tags{2});
}

}  // namespace
}  // namespace firn::proto::transport
