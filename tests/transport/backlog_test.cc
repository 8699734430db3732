#include "proto/transport/backlog.h"

#include <doctest/doctest.h>

using firn::proto::transport::drain_time_us;
using firn::proto::transport::PathState;
using firn::proto::transport::queued_bytes;
using firn::proto::transport::settling_time_us;

TEST_CASE("what the kernel has not sent is queued") {
  CHECK(queued_bytes({.unsent_bytes = 5'000, .rtt_us = 40'000, .rtt_min_us = 40'000}) == 5'000);
}

TEST_CASE("on a path without a queue what is unacknowledged is on its way") {
  const PathState path{.unacknowledged_bytes = 100'000, .rtt_us = 42'000, .rtt_min_us = 40'000};
  CHECK(queued_bytes(path) == 0);
}

TEST_CASE("of what is unacknowledged the part that only a queue explains is queued") {
  // A path of 40 ms that now takes 160: three quarters stand in line.
  const PathState path{.unsent_bytes = 1'000,
                       .unacknowledged_bytes = 100'000,
                       .rtt_us = 160'000,
                       .rtt_min_us = 40'000};
  CHECK(queued_bytes(path) == 76'000);
  // 100,000 bytes go in 160 ms.
  CHECK(drain_time_us(path) == 121'600);
}

TEST_CASE("a path that was never measured has no queue, and nothing is divided by zero") {
  CHECK(queued_bytes({}) == 0);
  CHECK(drain_time_us({}) == 0);
  CHECK(queued_bytes({.unsent_bytes = 7}) == 7);
  CHECK(drain_time_us({.unsent_bytes = 7}) == 0);
}

TEST_CASE("a queue has settled when what is left goes while the next block is made") {
  // 100,000 bytes in 100 ms, nine tenths of them in a queue: 90 ms.
  PathState path{.unacknowledged_bytes = 100'000, .rtt_us = 100'000, .rtt_min_us = 10'000};
  CHECK(settling_time_us(path) == 87'000);
  CHECK(settling_time_us(path, firn::proto::transport::kSettledFastUs) == 80'000);
  path.unacknowledged_bytes = 4'000;  // the end of a block
  CHECK(settling_time_us(path) == 0);
  // A fast link: as many bytes, and gone in a moment.
  path = {
      .unsent_bytes = 50'000, .unacknowledged_bytes = 100'000, .rtt_us = 900, .rtt_min_us = 900};
  CHECK(settling_time_us(path) == 0);
}

TEST_CASE("of small blocks less counts as the end, but on long paths") {
  using firn::proto::transport::kSettledBytes;
  using firn::proto::transport::settled_bytes;
  CHECK(settled_bytes(16'500, 100) == kSettledBytes);
  CHECK(settled_bytes(8'192, 100) == 2'048);
  CHECK(settled_bytes(4'200, 100) == 1'500);
  CHECK(settled_bytes(4'200, firn::proto::transport::kSettledLongPathUs) == kSettledBytes);
  // A whole block of 4 KiB before a slow link has not gone.
  const PathState path{.unacknowledged_bytes = 4'096, .rtt_us = 70'000, .rtt_min_us = 100};
  CHECK(settling_time_us(path) == 0);
  CHECK(settling_time_us(path, 3'000, settled_bytes(4'200, 100)) > 60'000);
}

TEST_CASE("what was sent longer ago than the queue is long has left it") {
  PathState path{.unacknowledged_bytes = 16'000, .rtt_us = 50'000, .rtt_min_us = 10'000};
  CHECK(settling_time_us(path) == 37'000);
  path.sent_for_us = 25'000;
  CHECK(settling_time_us(path) == 12'000);
  CHECK(settling_time_us(path, firn::proto::transport::kSettledFastUs) == 5'000);
  path.sent_for_us = 37'000;  // the rest goes while the next block is made
  CHECK(settling_time_us(path) == 0);
}

TEST_CASE("the queue of acknowledgements on the other side is not ours") {
  firn::proto::transport::SharedQueue shared;
  PathState near{.unacknowledged_bytes = 10'000, .rtt_us = 20'000, .rtt_min_us = 0};
  shared.share(near);
  CHECK(queued_bytes(near) == 10'000);
  PathState far{.unacknowledged_bytes = 10'000, .rtt_us = 200'000, .rtt_min_us = 0};
  shared.share(far);
  CHECK(queued_bytes(far) < 1'100);
}

TEST_CASE("of a path's queue a part may count") {
  const PathState path{.unacknowledged_bytes = 10'000, .rtt_us = 100'000, .rtt_min_us = 20'000};
  CHECK(path.queue_us() == 80'000);
  CHECK(queued_bytes(path.with(1)) == 8'000);
  CHECK(queued_bytes(path.with(0.25)) == 2'000);
  CHECK(queued_bytes(path.with(0)) == 0);
}
