// Sources that go once receivers have what they came for, or nobody fetches any more.
#include <doctest/doctest.h>

#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;

TEST_CASE("a source stays until as many receivers as given have had everything") {
  core::Options options = plain_options();
  options.seeding.kind = core::SeedPolicy::Kind::kReceived;
  options.seeding.receivers = 2;
  Fixture fixture(plain_manifest(3, 4, 16), options);
  fixture.start(true);
  fixture.join(1, peer_id(1), 0, true);  // they part: both have everything
  fixture.pass(kSecond);
  fixture.join(2, peer_id(1), 0, true);  // the same receiver again
  fixture.join(3, peer_id(2), 0);
  fixture.say_state(3, 0, 0, {}, {{0, 2}});  // all but one generation
  fixture.pass(60 * kSecond);
  CHECK(fixture.take<core::Finished>().empty());
  fixture.say_state(3, 0, 0, {}, {{2, 1}});
  CHECK(fixture.take<core::Finished>().size() == 1);
}

TEST_CASE("a source stays until each host that was named has had everything") {
  core::Options options = plain_options();
  options.seeding.kind = core::SeedPolicy::Kind::kReceived;
  const std::string host = "192.0.2.1";  // of neighbour 1
  bool leaves = true;
  SUBCASE("it has one of the addresses of the only host") {
    options.seeding.awaited = {{"192.0.2.7", host}};
  }
  SUBCASE("another host has not come") {
    options.seeding.awaited = {{host}, {"192.0.2.7"}};
    leaves = false;
  }
  Fixture fixture(plain_manifest(3, 4, 16), options);
  fixture.start(true);
  fixture.join(1, peer_id(1), 0);
  fixture.pass(kSecond);
  CHECK(fixture.take<core::Finished>().empty());
  fixture.say_state(1, 0, 0, {}, {{0, 3}});
  fixture.pass(kSecond);
  CHECK(fixture.take<core::Finished>().empty() == !leaves);
}

TEST_CASE("a source goes once no block has gone out for the time") {
  core::Options options = plain_options();
  options.seeding.kind = core::SeedPolicy::Kind::kIdle;
  options.seeding.duration = 60 * kSecond;
  Fixture fixture(plain_manifest(3, 4, 16), options);
  fixture.start(true);
  fixture.pass(40 * kSecond);
  fixture.join(1, peer_id(1), 2);
  REQUIRE_FALSE(fixture.blocks_to(1).empty());
  const TimeUs fetched = fixture.now;
  fixture.pass(40 * kSecond);
  CHECK(fixture.take<core::Finished>().empty());
  while (fixture.take<core::Finished>().empty()) {
    REQUIRE(fixture.now < fetched + 100 * kSecond);
    fixture.pass(kSecond);
  }
  CHECK(fixture.now >= fetched + 60 * kSecond);
}
