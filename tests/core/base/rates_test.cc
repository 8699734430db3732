#include "client/core/base/rates.h"

#include <doctest/doctest.h>

#include "client/core/base/uplink.h"

using namespace firn::core;

TEST_CASE("a rate meter finds a steady rate and forgets it") {
  RateMeter meter(kSecond);
  CHECK(meter.bytes_per_second(5 * kSecond) == 0);
  TimeUs now = 100 * kSecond;
  for (int i = 0; i < 1000; ++i) meter.add(1000, now += 10 * kMillisecond);
  CHECK(meter.bytes_per_second(now) == doctest::Approx(100'000).epsilon(0.01));
  CHECK(meter.bytes_per_second(now + 20 * kSecond) < 1);
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

TEST_CASE("a meter that has begun to measure a moment ago is not slowed by the time before") {
  const auto seen = [](bool begun) {
    RateMeter meter(kSecond);
    TimeUs now = 100 * kSecond;
    if (begun) meter.begin(now);
    for (int i = 0; i < 25; ++i) meter.add(1000, now += 10 * kMillisecond);
    return meter.bytes_per_second(now);
  };
  CHECK(seen(true) == doctest::Approx(100'000).epsilon(0.1));
  CHECK(seen(false) < 25'000);
  RateMeter burst(kSecond);
  burst.begin(5);
  CHECK(burst.bytes_per_second(5) == 0);
  burst.add(1000, 6);
  CHECK(burst.bytes_per_second(6) < 6'000);
}

TEST_CASE("a message waits for as long as blocks of late did, while any wait") {
  Options options;
  Uplink uplink(options, kSecond);
  CHECK(uplink.queue_time() == 0);
  uplink.waiting(true, kSecond);
  for (int i = 0; i < 50; ++i) uplink.block_waited(200 * kMillisecond);
  CHECK(uplink.queue_time() > 190 * kMillisecond);
  CHECK(uplink.queue_time() <= 200 * kMillisecond);
  uplink.waiting(false, 2 * kSecond);
  CHECK(uplink.queue_time() == 0);
}
