#include "proto/transport/read_pace.h"

#include <doctest/doctest.h>

using firn::proto::transport::ReadPace;

TEST_CASE("between records the next byte is news, and reading does not rest") {
  ReadPace pace;
  CHECK(pace.rest_ms(0, 1'000) == 0);
  CHECK(pace.rest_ms(0, 9'000) == 0);
}

TEST_CASE("reading rests until the record should be there, at the rate at which it comes") {
  ReadPace pace;
  const auto first = pace.rest_ms(15'000, 0);
  CHECK(first > 0);  // no rate is known: a short look
  CHECK(first <= 2);
  CHECK(pace.rest_ms(13'000, 2'000) == 13);  // 1 MB/s
  CHECK(pace.rest_ms(0, 15'000) == 0);
  CHECK(pace.rest_ms(10'000, 100'000) == 10);  // the next record, at the same rate
}

TEST_CASE(
    "a slow record is looked at from time to time, before the kernel acknowledges by itself") {
  ReadPace pace;
  (void)pace.rest_ms(16'000, 0);
  for (std::uint64_t now_us = 1; now_us < 10; ++now_us) {
    CHECK(pace.rest_ms(16'000 - now_us, now_us * 1'000'000) <= 24);
  }
}

TEST_CASE("nothing rests where the rest of a record is there in less than a millisecond") {
  ReadPace pace;
  (void)pace.rest_ms(16'000, 0);
  CHECK(pace.rest_ms(8'000, 10) == 0);
}

TEST_CASE("for the last segments of a record reading does not rest") {
  ReadPace pace;
  (void)pace.rest_ms(16'000, 0);
  CHECK(pace.rest_ms(2'000, 100'000) == 0);
}
