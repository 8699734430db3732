#include "client/core/rates.h"

#include <doctest/doctest.h>

using namespace firn::core;

TEST_CASE("a rate meter finds a steady rate and forgets it") {
  RateMeter meter(kSecond);
  CHECK(meter.bytes_per_second(5 * kSecond) == 0);
  TimeUs now = 100 * kSecond;
  for (int i = 0; i < 1000; ++i) meter.add(1000, now += 10 * kMillisecond);
  CHECK(meter.bytes_per_second(now) == doctest::Approx(100'000).epsilon(0.01));
  CHECK(meter.bytes_per_second(now + 20 * kSecond) < 1);
}

TEST_CASE("a bucket lets a rate through over time, whatever the pieces") {
  for (const std::uint64_t piece : {1u, 100u, 5000u, 100'000u}) {
    TokenBucket bucket(10'000, 500, 0);
    std::uint64_t passed = 0;
    for (TimeUs now = 0; now < 100 * kSecond;) {
      if (bucket.ready(now)) {
        bucket.take(piece);
        passed += piece;
      }
      now = std::max(now + 1, bucket.ready_at(now));
    }
    CAPTURE(piece);
    CHECK(passed <= 1'000'000 + 500 + piece);
    CHECK(passed >= 990'000);
  }
}

TEST_CASE("a bucket is ready when it says it will be") {
  for (const std::uint64_t rate : {1u, 3u, 777u, 1'000'000u, 4'000'000'000u}) {
    TokenBucket bucket(rate, 1, 0);
    bucket.take(12'345);
    const TimeUs at = bucket.ready_at(0);
    CAPTURE(rate);
    CHECK_FALSE(bucket.ready(0));
    CHECK(bucket.ready(at));
  }
}

TEST_CASE("a bucket saves up no more than its burst") {
  TokenBucket bucket(1000, 50, 0);
  CHECK(bucket.available(1000 * kSecond) == 50);
  bucket.take(20);
  CHECK(bucket.available(1000 * kSecond) == 30);
  bucket.give_back(1000);
  CHECK(bucket.available(1000 * kSecond) == 50);
}

TEST_CASE("no rate is no limit") {
  TokenBucket bucket(0, 1, 0);
  CHECK(bucket.unlimited());
  bucket.take(UINT64_MAX);
  CHECK(bucket.ready(0));
  CHECK(bucket.ready_at(7) == 7);
}

TEST_CASE("an uplink's rate is measured while something waits for it, and not while it is idle") {
  UplinkMeter meter;
  TimeUs now = kSecond;
  CHECK(meter.bytes_per_second() == 0);  // not known
  for (int round = 0; round < 20; ++round) {
    meter.waiting(true, now);
    for (int i = 0; i < 10; ++i) meter.sent(1000, now += 10 * kMillisecond);  // 100 kB/s
    meter.waiting(false, now);
    now += 900 * kMillisecond;  // nothing to send
  }
  CHECK(meter.bytes_per_second() > 95'000);
  CHECK(meter.bytes_per_second() < 105'000);
}
