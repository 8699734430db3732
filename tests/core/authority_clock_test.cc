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

TEST_CASE("a bound of a clock that stood still since is void once a later time is shown") {
  AuthorityClock clock;
  clock.heard(10 * kSecond, 510 * kSecond, 11 * kSecond);
  clock.shows(515 * kSecond, 15 * kSecond);
  CHECK(clock.known());
  clock.shows(900 * kSecond, 16 * kSecond);  // suspended for more than six minutes
  CHECK_FALSE(clock.known());
  clock.heard(17 * kSecond, 901 * kSecond, 18 * kSecond);
  CHECK(*clock.latest(17 * kSecond) == 901 * kSecond + 1);
}

TEST_CASE("an old bound gives way to a fresh one that is looser") {
  // It may come from before a suspension of which no Epoch has told.
  AuthorityClock clock;
  clock.heard(0, 0, 0);
  const TimeUs later = firn::core::policy::kBoundLife;
  clock.heard(later, later + 60 * kSecond, later);
  CHECK(*clock.latest(0) == 1);
  clock.heard(later + 1, later + 60 * kSecond, later + 1);
  CHECK(*clock.latest(later + 1) == later + 60 * kSecond + 1);
}
