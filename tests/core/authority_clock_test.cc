// The rule that decides whether a row arrived before a key was told.
#include "client/core/authority_clock.h"

#include <doctest/doctest.h>

using namespace firn;
using core::AuthorityClock;
using core::kMillisecond;
using core::kSecond;
using core::TimeUs;

TEST_CASE("without an answer nothing is known of the authority's clock") {
  AuthorityClock clock;
  CHECK_FALSE(clock.known());
  CHECK_FALSE(clock.latest(5 * kSecond));
  clock.heard(kSecond, 900 * kSecond, 2 * kSecond);
  CHECK(clock.latest(kSecond));
  clock.forget();
  CHECK_FALSE(clock.latest(kSecond));
}

TEST_CASE("the bound never falls short of the authority's clock, however the two drift") {
  // The authority's clock is the true time plus an offset, and runs off by nearly 100 ppm, as does
  // ours; the nonce takes a while to get there.
  for (const TimeUs offset : {TimeUs{0}, 700 * kSecond}) {
    for (const double theirs : {-9.9e-5, 0.0, 9.9e-5}) {
      for (const double ours : {-9.9e-5, 0.0, 9.9e-5}) {
        for (const TimeUs way : {TimeUs{0}, 30 * kMillisecond, 9 * kSecond}) {
          const auto authority = [&](double at) { return offset + at * (1 + theirs); };
          const auto local = [&](double at) { return static_cast<TimeUs>(at * (1 + ours)); };
          const double sent = 50e6;
          AuthorityClock clock;
          clock.heard(local(sent), static_cast<TimeUs>(authority(sent + way)), local(60e6));
          for (const double at : {10e6, 49e6, 50e6, 51e6, 100e6, 3000e6}) {
            CHECK(static_cast<double>(*clock.latest(local(at))) >= authority(at) - 1);
          }
        }
      }
    }
  }
}

TEST_CASE("of two bounds the nearer one is kept") {
  AuthorityClock clock;
  clock.heard(10 * kSecond, 510 * kSecond, 11 * kSecond);
  CHECK(*clock.latest(10 * kSecond) == 510 * kSecond + 1);
  clock.heard(20 * kSecond, 523 * kSecond, 24 * kSecond);  // it was three seconds on its way
  CHECK(*clock.latest(10 * kSecond) == 510 * kSecond + 1);
  clock.heard(30 * kSecond, 529 * kSecond, 30 * kSecond);
  CHECK(*clock.latest(30 * kSecond) == 529 * kSecond + 1);
}

TEST_CASE("what has drifted far gives way to a fresh bound") {
  AuthorityClock clock;
  clock.heard(0, 0, 0);
  const TimeUs later = 1000 * kSecond;  // 200 ppm of it are 200 ms
  clock.heard(later, later + 100 * kMillisecond, later);
  CHECK(*clock.latest(later) == later + 100 * kMillisecond + 1);
}
