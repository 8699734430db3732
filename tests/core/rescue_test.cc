// Which peer may fill a generation again that was false, and which peer is to blame.
#include "client/core/rescue.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "client/core/policy/constants.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::kNever;
using core::Rescue;

namespace {

Rescue::Holders holders(std::vector<PeerId> ids) {
  return [ids](std::uint32_t) { return ids; };
}
std::vector<PeerId> rows(std::initializer_list<int> senders) {
  std::vector<PeerId> ids;
  for (const int s : senders) ids.push_back(peer_id(static_cast<std::uint8_t>(s)));
  return ids;
}
bool accepts(const Rescue& rescue, int peer) {
  return rescue.accepts(0, peer_id(static_cast<std::uint8_t>(peer)));
}

}  // namespace

TEST_CASE("a generation without a case takes rows from anybody") {
  Rescue rescue(10);
  CHECK(rescue.empty());
  CHECK(accepts(rescue, 1));
  CHECK(rescue.next_review() == kNever);
  CHECK_FALSE(rescue.verified(0));
}

TEST_CASE("the only sender of a false generation is guilty, and not asked again") {
  Rescue rescue(10);
  const auto verdict = rescue.failed(0, rows({1, 1, 1}), holders(rows({1, 2})), 0);
  CHECK(verdict.guilty == peer_id(1));
  CHECK_FALSE(verdict.keep_evidence);
  CHECK_FALSE(accepts(rescue, 1));
  CHECK(accepts(rescue, 2));
  CHECK_FALSE(accepts(rescue, 3));
  CHECK(rescue.accepts(1, peer_id(1)));  // other generations
  CHECK_FALSE(rescue.verified(0));       // no evidence to check
  CHECK(rescue.empty());
}

TEST_CASE("of several senders nobody is guilty yet, and one holder is taken at its word") {
  Rescue rescue(10);
  const auto verdict = rescue.failed(0, rows({1, 2, 1}), holders(rows({2, 3})), 0);
  CHECK_FALSE(verdict.guilty);
  CHECK(verdict.keep_evidence);
  CHECK(accepts(rescue, 2));
  CHECK_FALSE(accepts(rescue, 3));
  SUBCASE("and convicted if it fails") {
    const auto second = rescue.failed(0, rows({2, 2, 2}), holders(rows({2, 3})), 0);
    CHECK(second.guilty == peer_id(2));
    CHECK(accepts(rescue, 3));
    CHECK(rescue.verified(0));  // the first evidence still waits
  }
  SUBCASE("and replaced if it brings nothing") {
    CHECK(rescue.next_review() == core::policy::kRescueTime);
    CHECK(rescue.review(holders(rows({2, 3})), kSecond).empty());
    rescue.progressed(0, 4 * kSecond);
    CHECK(rescue.next_review() == 4 * kSecond + core::policy::kRescueTime);
    CHECK(rescue.review(holders(rows({2, 3})), 9 * kSecond) == std::vector<std::uint32_t>{0});
    CHECK(accepts(rescue, 3));
    CHECK_FALSE(accepts(rescue, 2));
  }
}

TEST_CASE("without a holder everybody but one contributor is asked, another one each time") {
  Rescue rescue(10);
  std::vector<int> left_out;
  TimeUs now = 0;
  rescue.failed(0, rows({1, 1, 2, 3}), holders({}), now);
  for (int i = 0; i < 3; ++i) {
    std::vector<int> out;
    for (int peer = 1; peer <= 4; ++peer) {
      if (!accepts(rescue, peer)) out.push_back(peer);
    }
    REQUIRE(out.size() == 1);
    left_out.push_back(out.front());
    CHECK(rescue.review(holders({}), now += 5 * kSecond).size() == 1);
  }
  std::sort(left_out.begin(), left_out.end());
  CHECK(left_out == std::vector<int>{1, 2, 3});
}

TEST_CASE("when all holders were tried they are tried anew") {
  Rescue rescue(10);
  TimeUs now = 0;
  rescue.failed(0, rows({1, 2}), holders(rows({3, 4})), now);
  int only = 0;
  for (int i = 0; i < 12; ++i) {
    int accepted = 0;
    for (int peer = 1; peer <= 4; ++peer) accepted += accepts(rescue, peer) ? 1 : 0;
    CHECK(accepted >= 1);
    only += accepted == 1 ? 1 : 0;
    rescue.review(holders(rows({3, 4})), now += 5 * kSecond);
  }
  CHECK(only >= 6);
}

TEST_CASE("evidence is kept for a bounded number of generations") {
  Rescue rescue(2);
  CHECK(rescue.failed(0, rows({1, 2}), holders({}), 0).keep_evidence);
  CHECK(rescue.failed(1, rows({1, 2}), holders({}), 0).keep_evidence);
  CHECK_FALSE(rescue.failed(2, rows({1, 2}), holders({}), 0).keep_evidence);
  CHECK(rescue.failed(1, rows({1, 2}), holders({}), 0).keep_evidence);  // replaces its own
  CHECK_FALSE(rescue.verified(2));
  CHECK(rescue.verified(1));
  CHECK(rescue.failed(3, rows({1, 2}), holders({}), 0).keep_evidence);
}
