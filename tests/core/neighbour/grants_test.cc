// What the kernel tells of a path, and how neighbours answer grants.
#include "client/core/neighbour/grants.h"

#include <doctest/doctest.h>

#include "tests/core/facts.h"

using namespace firn;
namespace facts = test::facts;
using core::kSecond;
using core::TimeUs;

TEST_CASE("a path is the round trip until a grant was answered, and where that took very long") {
  core::Grants grants;
  grants.set_path(40'000);
  CHECK(grants.round_trip() == 40'000);
  grants.grant(1, 1000);
  REQUIRE(grants.book_arrival(1, 10, 2 * facts::kMayBeQueue));
  CHECK(grants.round_trip() == 40'000);
  grants.grant(1, kSecond);
  REQUIRE(grants.book_arrival(2, 10, kSecond + 60'000));
  CHECK(grants.round_trip() == 60'000);
}

TEST_CASE("a grant is answered promptly if its first block comes as soon as the path lets it") {
  const auto prompt = [](TimeUs path, TimeUs took) {
    core::Grants grants;
    if (path > 0) grants.set_path(path);
    grants.grant(2, 1000);
    REQUIRE(grants.book_arrival(1, 10, 1000 + took));
    return grants.answered_promptly();
  };
  CHECK(prompt(100'000, 101'000));
  CHECK_FALSE(prompt(100'000, 400'000));
  CHECK(prompt(1000, 3000));  // what is done in turns takes a little time
  CHECK_FALSE(prompt(0, 1));  // nothing is known of the path
}

TEST_CASE("a path is not believed where many grants were answered far later") {
  // Something on the way made the connection in the neighbour's place.
  const auto told = [](TimeUs takes, std::uint32_t count) {
    core::Grants grants;
    grants.set_path(1000);
    for (std::uint32_t i = 1; i <= count; ++i) {
      grants.grant(1, i * kSecond);
      REQUIRE(grants.book_arrival(i, 10, i * kSecond + takes));
    }
    return grants.round_trip();
  };
  constexpr std::uint32_t kEnough = facts::kAnswersBelieved;
  constexpr TimeUs kLong = facts::kMayBeQueue + 100'000;
  CHECK(told(kLong, kEnough - 1) == 1000);
  CHECK(told(kLong, kEnough) == kLong);
  CHECK(told(facts::kMayBeQueue + 1000, kEnough) == 1000);  // a queue
}
