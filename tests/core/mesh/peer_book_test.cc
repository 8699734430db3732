// Which peers are called, when, and which are not.
#include "client/core/mesh/peer_book.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::kNever;
using core::PeerBook;

namespace {

Address at(std::uint16_t port, std::optional<PeerId> id = std::nullopt) {
  return {id, "192.0.2.1", port};
}
proto::PeerEndpoint endpoint(std::uint16_t port, const PeerId& id) {
  return {id, "192.0.2.1", port};
}

// Makes every call that is due and lets it fail, until none is due before `until`; how many.
int fail_all(PeerBook& book, TimeUs from, TimeUs until) {
  int calls = 0;
  for (TimeUs now = from; now < until; now = std::max(now + 1, book.next_due())) {
    while (const auto call = book.next_call(now)) {
      book.failed(call->attempt, false, now);
      REQUIRE(++calls < 10'000);
    }
  }
  return calls;
}

}  // namespace

TEST_CASE("an address is called once until it is known what became of it") {
  PeerBook book(peer_id(9));
  CHECK(book.next_due() == kNever);
  book.add(at(1), true, 0);
  CHECK(book.next_due() == 0);
  const auto call = book.next_call(0);
  REQUIRE(call);
  CHECK(call->address == at(1));
  CHECK(book.calling() == 1);
  CHECK_FALSE(book.next_call(1000 * kSecond));
  book.failed(call->attempt, false, 0);
  CHECK(book.calling() == 0);
  CHECK_FALSE(book.next_call(0));
  const TimeUs again = book.next_due();
  CHECK(again > 0);
  CHECK(again < kNever);
  CHECK(book.next_call(again));
}

TEST_CASE("calls back off, those by hand for ever, others until they are given up") {
  PeerBook book(peer_id(9));
  book.add(at(1), true, 0);
  const int by_hand = fail_all(book, 0, 3600 * kSecond);
  CHECK(by_hand > 20);
  CHECK(by_hand < 200);
  PeerBook learnt(peer_id(9));
  learnt.add(endpoint(1, peer_id(1)), 0);
  const int learnt_calls = fail_all(learnt, 0, 3600 * kSecond);
  CHECK(learnt_calls > 1);
  CHECK(learnt_calls < by_hand);
  CHECK(learnt.next_due() == kNever);
}

TEST_CASE("neither oneself nor port 0 is called") {
  PeerBook book(peer_id(9));
  book.add(endpoint(1, peer_id(9)), 0);
  book.add(at(0), true, 0);
  book.add(at(1, peer_id(9)), true, 0);
  CHECK_FALSE(book.next_call(0));
}

TEST_CASE("an address given by hand with one's own id is accounted for") {
  PeerBook book(peer_id(9));
  book.add(at(1, peer_id(9)), true, 0);
  book.add(at(2, peer_id(1)), true, 0);
  const auto standings = book.standings(10);
  REQUIRE(standings.size() == 2);
  CHECK(standings[1].address.port == 1);
  CHECK(standings[1].error == PeerBook::kOwnIdentity);
  CHECK(standings[0].error.empty());
  CHECK(book.standings(1).size() == 1);
}

TEST_CASE("addresses given by hand are called before others") {
  PeerBook book(peer_id(9));
  book.add(endpoint(1, peer_id(1)), 0);
  book.add(at(2), true, 5);
  const auto call = book.next_call(5);
  REQUIRE(call);
  CHECK(call->address.port == 2);
}

TEST_CASE("the first key at an address without an id is reported once and kept") {
  PeerBook book(peer_id(9));
  book.add(at(1), true, 0);
  auto call = book.next_call(0);
  REQUIRE(call);
  CHECK(book.opened(call->attempt, peer_id(1)) == "192.0.2.1:1");
  book.closed(peer_id(1), 0, 0);
  call = book.next_call(100 * kSecond);
  REQUIRE(call);
  CHECK(call->address == at(1, peer_id(1)));
  CHECK(book.opened(call->attempt, peer_id(1)).empty());
}

TEST_CASE("who is connected, or being called elsewhere, is not called again") {
  PeerBook book(peer_id(9));
  book.opened(0, peer_id(1));  // it came in
  book.add(endpoint(1, peer_id(1)), 0);
  CHECK_FALSE(book.next_call(0));
  CHECK(book.next_due() == kNever);
  book.closed(peer_id(1), 0, 0);
  CHECK(book.next_due() < kNever);
  REQUIRE(book.next_call(book.next_due()));

  PeerBook two(peer_id(9));
  two.add(endpoint(1, peer_id(1)), 0);
  two.add(endpoint(2, peer_id(1)), 0);
  REQUIRE(two.next_call(0));
  // Two connections at once would be opened here and there in different order, and both closed.
  CHECK_FALSE(two.next_call(0));
}

TEST_CASE("a peer that greets and then sends us away is called less and less") {
  PeerBook book(peer_id(9));
  book.add(at(1, peer_id(1)), true, 0);
  int calls = 0;
  TimeUs called_at = 0;
  for (TimeUs now = 0; now < 600 * kSecond; now = std::max(now + 1, book.next_due())) {
    while (const auto call = book.next_call(now)) {
      called_at = now;
      book.opened(call->attempt, peer_id(1));
      book.closed(peer_id(1), 0, now);
      REQUIRE(++calls < 1000);
    }
  }
  CHECK(calls < 30);
  // Once it has taken us in, a lost connection is tried again soon.
  const TimeUs now = book.next_due(), waited = now - called_at;
  const auto call = book.next_call(now);
  REQUIRE(call);
  book.opened(call->attempt, peer_id(1));
  book.welcomed(peer_id(1));
  book.closed(peer_id(1), 0, now);
  CHECK(book.next_due() - now < waited / 4);
}

TEST_CASE("a useless peer is not called for long") {
  PeerBook book(peer_id(9));
  book.add(at(1, peer_id(1)), true, 0);
  const auto call = book.next_call(0);
  REQUIRE(call);
  book.opened(call->attempt, peer_id(1));
  book.closed(peer_id(1), 1000 * kSecond, 0);
  CHECK(book.next_due() == 1000 * kSecond);
}

TEST_CASE("a peer that does not serve the content is asked again, by hand sooner than others") {
  const auto calls_in = [](bool by_hand, TimeUs time) {
    PeerBook book(peer_id(9));
    if (by_hand) {
      book.add(at(1), true, 0);
    } else {
      book.add(endpoint(1, peer_id(1)), 0, PeerBook::Origin::kTracker);
    }
    int calls = 0, news = 0;
    for (TimeUs now = 0; now < time; now = std::max(now + 1, book.next_due())) {
      while (const auto call = book.next_call(now)) {
        book.opened(call->attempt, peer_id(1));
        const PeerBook::Unserved unserved = book.unserved(peer_id(1), "not here");
        news += unserved.news;
        book.closed(peer_id(1), unserved.rest, now, "not here");
        REQUIRE(++calls < 1000);
      }
    }
    CHECK(news == 1);
    return calls;
  };
  CHECK(calls_in(true, 10 * kSecond) > calls_in(false, 10 * kSecond));
  CHECK(calls_in(true, 3600 * kSecond) < 200);
  CHECK(calls_in(false, 3600 * kSecond) > 1);
  CHECK(calls_in(false, 3600 * kSecond) < 20);
}

TEST_CASE("bans grow with every strike, and what comes to light during one is part of it") {
  PeerBook book(peer_id(9));
  book.add(endpoint(1, peer_id(1)), 0);
  CHECK(book.strike(peer_id(1), 0) == 1);
  CHECK(book.banned(peer_id(1), 0));
  CHECK_FALSE(book.banned(peer_id(2), 0));
  CHECK(book.strike(peer_id(1), kSecond) == 1);
  CHECK_FALSE(book.next_call(kSecond));
  CHECK(book.next_due() == 30 * kSecond);
  CHECK_FALSE(book.banned(peer_id(1), 30 * kSecond));
  CHECK(book.strike(peer_id(1), 30 * kSecond) == 2);
  CHECK(book.banned(peer_id(1), 629 * kSecond));
  CHECK_FALSE(book.banned(peer_id(1), 630 * kSecond));
  CHECK(book.strike(peer_id(1), 630 * kSecond) == 3);
  CHECK(book.banned(peer_id(1), 4229 * kSecond));
  CHECK(book.next_due() == 4230 * kSecond);
  book.add(endpoint(2, peer_id(1)), 700 * kSecond);
  CHECK_FALSE(book.next_call(700 * kSecond));
  // Never for good: an honest relay may have passed on false rows.
  CHECK(book.strike(peer_id(1), 4230 * kSecond) == 4);
  CHECK(book.next_due() == 7830 * kSecond);
}

TEST_CASE("another key at a learnt address ends it, one by hand is tried again") {
  PeerBook book(peer_id(9));
  book.add(endpoint(1, peer_id(1)), 0);
  auto call = book.next_call(0);
  REQUIRE(call);
  book.failed(call->attempt, true, 0);
  CHECK(book.next_due() == kNever);
  book.add(at(2, peer_id(2)), true, 0);
  call = book.next_call(0);
  REQUIRE(call);
  book.failed(call->attempt, true, 0);
  CHECK(book.next_due() < kNever);
}

TEST_CASE("gossip about another key does not displace who has just been heard of there") {
  PeerBook book(peer_id(9));
  book.add(endpoint(1, peer_id(1)), 0);
  book.add(endpoint(1, peer_id(2)), 0);
  auto call = book.next_call(0);
  REQUIRE(call);
  CHECK(call->address.id == peer_id(1));
  book.add(endpoint(1, peer_id(2)), 0);  // nor while it is being called
  book.failed(call->attempt, false, 0);
  book.add(endpoint(1, peer_id(2)), 0);  // but when it does not answer
  call = book.next_call(0);
  REQUIRE(call);
  CHECK(call->address.id == peer_id(2));
}

TEST_CASE("a connected peer's own word about its port counts for itself alone") {
  PeerBook book(peer_id(9));
  book.add(endpoint(1, peer_id(1)), 0);
  book.opened(0, peer_id(2));
  book.answers_at(peer_id(2), at(1, peer_id(2)), 0);  // where peer 1 was heard of
  book.closed(peer_id(2), 1000 * kSecond, 0);
  const auto call = book.next_call(0);
  REQUIRE(call);
  CHECK(call->address.id == peer_id(1));
}

TEST_CASE("strangers' gossip does not fill the book, and new addresses displace failed ones") {
  PeerBook book(peer_id(9));
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    proto::PeerEndpoint stranger =
        endpoint(static_cast<std::uint16_t>(1 + i % 60'000),
                 peer_id(static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8)));
    stranger.ip = "10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250);
    book.add(stranger, 0);
  }
  std::set<std::uint16_t> called;
  while (const auto call = book.next_call(0)) {
    called.insert(call->address.port);
    book.failed(call->attempt, false, 0);
  }
  CHECK(called.size() == 1000);
  book.add(endpoint(60'001, peer_id(1, 200)), 0);
  const auto call = book.next_call(0);
  REQUIRE(call);
  CHECK(call->address.port == 60'001);
}

TEST_CASE("what peers say cannot push out what trackers say, nor the other way round") {
  PeerBook book(peer_id(9));
  const auto tell = [&book](std::uint32_t i, std::uint8_t net, PeerBook::Origin origin) {
    const std::string ip = std::to_string(net) + ".0." + std::to_string(i / 250) + ".1";
    book.add({numbered(i), ip, static_cast<std::uint16_t>(1 + i)}, 0, origin, "source");
  };
  for (std::uint32_t i = 0; i < 20; ++i) tell(i, 10, PeerBook::Origin::kGossip);
  for (std::uint32_t i = 0; i < 5000; ++i) tell(i, 11, PeerBook::Origin::kTracker);
  for (std::uint32_t i = 0; i < 5000; ++i) tell(i, 12, PeerBook::Origin::kGossip);
  CHECK(book.standings(10'000).size() == 2000);
  const auto standings = book.standings(10'000);
  CHECK(std::count_if(standings.begin(), standings.end(), [](const auto& standing) {
          return standing.address.host.starts_with("11.");
        }) == 1000);
}

TEST_CASE("calls go to other prefixes first where one has been called") {
  PeerBook book(peer_id(9));
  for (std::uint16_t i = 1; i <= 200; ++i) {
    book.add({numbered(i), "192.0.2." + std::to_string(i), i}, 0, PeerBook::Origin::kTracker);
  }
  for (std::uint16_t i = 1; i <= 5; ++i) {
    book.add(proto::PeerEndpoint{numbered(1000u + i), "10.0." + std::to_string(i) + ".1", i}, 0,
             PeerBook::Origin::kTracker);
  }
  std::set<std::string> prefixes;
  for (int i = 0; i < 6; ++i) {
    const auto call = book.next_call(0);
    REQUIRE(call);
    prefixes.insert(prefix_of(call->address.host));
  }
  CHECK(prefixes.size() == 6);
}

TEST_CASE("an address heard of from a tracker is called before gossip") {
  PeerBook book(peer_id(9));
  for (std::uint8_t i = 1; i < 100; ++i) book.add(endpoint(i, peer_id(i)), 0);
  book.add(endpoint(200, peer_id(200)), 1, PeerBook::Origin::kTracker);
  const auto call = book.next_call(1);
  REQUIRE(call);
  CHECK(call->address.port == 200);
}

TEST_CASE("calls go to what trackers say and to what peers say in turn") {
  using Origin = PeerBook::Origin;
  Origin many = Origin::kGossip, few = Origin::kTracker;
  SUBCASE("peers that name many") {}
  SUBCASE("a tracker that names many") {
    std::swap(many, few);
  }
  PeerBook book(peer_id(9));
  // The many are in as many prefixes, the few in one.
  for (std::uint16_t i = 1; i <= 200; ++i)
    book.add({numbered(i), "10." + std::to_string(i) + ".0.1", 7}, 0, many);
  for (std::uint16_t i = 1; i <= 20; ++i)
    book.add({numbered(1000u + i), "192.0.2." + std::to_string(i), 7}, 0, few);
  int to_few = 0;
  std::vector<std::uint64_t> attempts;  // of calls to the few
  const auto call = [&] {
    const auto call = book.next_call(0);
    REQUIRE(call);
    if (!call->address.host.starts_with("192.")) return;
    ++to_few;
    attempts.push_back(call->attempt);
  };
  for (int i = 0; i < 12; ++i) call();
  CHECK(to_few == 6);
  // Calls that failed do not count: it is the turn of that origin.
  for (const std::uint64_t attempt : std::exchange(attempts, {})) book.failed(attempt, false, 0);
  to_few = 0;
  for (int i = 0; i < 6; ++i) call();
  CHECK(to_few == 6);
}

TEST_CASE("strikes are remembered for a bounded number of peers, the longest bans the longest") {
  PeerBook book(peer_id(9));
  for (int i = 0; i < 3; ++i) book.strike(peer_id(1, 1), i * 700 * kSecond);
  const TimeUs now = 1500 * kSecond;
  REQUIRE(book.banned(peer_id(1, 1), now));
  const auto stranger = [](std::uint32_t i) {
    PeerId id = peer_id(2, static_cast<std::uint8_t>(i));
    id.bytes[2] = static_cast<std::uint8_t>(i >> 8);
    return id;
  };
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    book.strike(stranger(i), now + i);
    CHECK(book.banned(stranger(i), now + i));
  }
  std::uint32_t banned = 0;
  for (std::uint32_t i = 0; i < 20'000; ++i) banned += book.banned(stranger(i), now + 20'000);
  CHECK(banned <= 4096);
  CHECK(book.banned(peer_id(1, 1), now));
}

TEST_CASE("a failing address by hand is described once") {
  PeerBook book(peer_id(9));
  book.add(at(1), true, 0);
  book.add(endpoint(2, peer_id(2)), 0);
  auto call = book.next_call(0);
  REQUIRE(call);
  CHECK(book.describe_once(call->attempt) == "192.0.2.1:1");
  CHECK(book.describe_once(call->attempt).empty());
  call = book.next_call(0);
  REQUIRE(call);
  CHECK(book.describe_once(call->attempt).empty());
}

TEST_CASE("a long reason of a failed call is cut between words, and says so") {
  const auto kept = [](const std::string& why) {
    PeerBook book(peer_id(9));
    book.add(at(1), true, 0);
    book.failed(book.next_call(0)->attempt, false, 0, why);
    return book.standings(1).front().error;
  };
  const std::string fits = std::string(250, 'a') + " the end of it";
  CHECK(kept(fits) == fits);
  CHECK(kept(fits + std::string(100, 'b') + " c") == std::string(250, 'a') + " the end of ...");
  CHECK(kept(std::string(1000, 'a')) == std::string(300, 'a') + " ...");
}
