#include "proto/base/token_bucket.h"

#include <doctest/doctest.h>

using firn::TokenBucket;

namespace {

constexpr TokenBucket::Micros kSecond = 1'000'000;

}  // namespace

TEST_CASE("a bucket lets a rate through over time, whatever the pieces") {
  for (const std::uint64_t piece : {1u, 100u, 5000u, 100'000u}) {
    TokenBucket bucket(10'000, 500, 0);
    std::uint64_t passed = 0;
    for (TokenBucket::Micros now = 0; now < 100 * kSecond;) {
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
    const TokenBucket::Micros at = bucket.ready_at(0);
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

TEST_CASE("the wait for tokens is as long as they take to come, and none if they are there") {
  TokenBucket bucket(4, 3, 0);
  CHECK(bucket.wait_for(3, 0) == 0);
  bucket.take(3);
  CHECK(bucket.wait_for(1, 0) == kSecond / 4);
  CHECK(bucket.wait_for(2, kSecond / 10) == 400'000);
  CHECK(bucket.wait_for(1, kSecond / 4) == 0);
  CHECK_FALSE(bucket.full(kSecond / 2));
  CHECK(bucket.full(kSecond));
}
