// How far connections are read.
#include "client/app/net/read_shares.h"

#include <doctest/doctest.h>

namespace firn::app {
namespace {

using core::kMillisecond;
using core::kSecond;

constexpr std::size_t kNoShare = 1u << 30;

void bring(ReadShares& shares, ReadShares::ConnectionId connection, int controls,
           std::size_t frame_bytes = 10) {
  for (int i = 0; i < controls; ++i) shares.control_came(connection, 100, frame_bytes, false);
}

TEST_CASE("a connection that fills its share is read again when all has been taken") {
  ReadShares shares(1000);
  CHECK_FALSE(shares.fills(1, 1000));
  shares.control_came(1, 600, 10, false);
  CHECK_FALSE(shares.fills(1, 400));
  CHECK(shares.fills(1, 401));
  CHECK_FALSE(shares.fills(2, 401));
  shares.control_came(1, 600, 10, true);
  const auto changes = shares.taken(0);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].connection == 1);
  CHECK_FALSE(changes[0].pause);
  CHECK_FALSE(shares.fills(1, 1000));
  CHECK(shares.next_due() == core::kNever);
}

TEST_CASE("as many States as an honest peer sends never stop its reading") {
  ReadShares shares(kNoShare);
  bring(shares, 1, 3000);  // those of a pause
  for (core::TimeUs now = 0; now < 60 * kSecond; now += 2 * kMillisecond) {
    bring(shares, 1, 1);
    REQUIRE(shares.taken(now).empty());
  }
}

TEST_CASE("more than that is read later, large ones by their size") {
  ReadShares shares(kNoShare);
  CHECK(shares.taken(0).empty());
  bring(shares, 1, 5, 1 << 20);
  bring(shares, 2, 1);
  auto changes = shares.taken(0);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].connection == 1);
  CHECK(changes[0].pause);
  const core::TimeUs due = shares.next_due();
  CHECK(due > kSecond);
  CHECK(due < 2 * kSecond);
  CHECK(shares.taken(due - kMillisecond).empty());
  changes = shares.taken(due);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].connection == 1);
  CHECK_FALSE(changes[0].pause);
  CHECK(shares.next_due() == core::kNever);
}

TEST_CASE("a connection that is closed leaves nothing to wait for") {
  ReadShares shares(kNoShare);
  bring(shares, 1, 10'000);
  REQUIRE(shares.taken(0).size() == 1);
  shares.closed(1);
  CHECK(shares.taken(0).empty());
  CHECK(shares.next_due() == core::kNever);
}

}  // namespace
}  // namespace firn::app
