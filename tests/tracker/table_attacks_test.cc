// Tables of a tracker that attackers try to fill: with contents, with peers of a content, with
// peers in all. Attackers are as fast as they like; honest peers announce themselves once a round.
#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/tracker/tracker_fixture.h"
#include "tracker/swarm_table.h"

namespace firn::tracker::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kContents = 1000;
constexpr std::uint32_t kHonest = 50;
constexpr std::uint32_t kFake = 1'000'000;  // and above: numbers of attackers' contents and peers

// Honest ones come from prefixes of their own.
std::string honest_ip(std::uint32_t number) {
  return "172.16." + std::to_string(number) + ".1";
}
// Address `number` of an attacker that has them in `prefixes` prefixes.
std::string hostile_ip(std::uint32_t number, std::uint32_t prefixes) {
  const std::uint32_t prefix = number % prefixes;
  return "10." + std::to_string(prefix / 256) + "." + std::to_string(prefix % 256) + "." +
         std::to_string(1 + number / prefixes % 250);
}
Peer at(std::uint32_t number, const std::string& ip) {
  return {{peer_id(number), ip, static_cast<std::uint16_t>(1 + number % 60'000)}, false};
}

struct Tables {
  explicit Tables(const RegistryLimits& limits)
      : table(limits, [this](const ContentId& one, const PeerId& id) {
          REQUIRE(table.find(one, id) != nullptr);  // told before it goes
          ++gone;
        }) {}
  bool announce(std::uint32_t content_number, const Peer& peer) {
    return table.announce(content(content_number), pack(peer), now) == AnnounceOutcome::kKept;
  }
  Endpoints sample(const SampleRequest& request, Random& random) const {
    Endpoints drawn;
    table.sample(content(1), request, random, drawn);
    return drawn;
  }
  Time now{0};
  std::size_t gone = 0;
  SwarmTable table;
};

struct Attack {
  std::uint32_t addresses, prefixes;
};

const Attack kAttacks[] = {{1, 1}, {10, 1}, {10, 10}, {250, 1}, {200, 200}};

TEST_CASE("fake contents of any number of addresses shut no tracker to others") {
  for (const Attack& attack : kAttacks) {
    CAPTURE(attack.addresses);
    CAPTURE(attack.prefixes);
    Tables tables({.content_count_max = kContents});
    std::mt19937_64 random(attack.addresses * 1000 + attack.prefixes);
    std::uint32_t fake = kFake;
    const auto flood = [&](int count) {
      for (int i = 0; i < count; ++i, ++fake) {
        const auto address = static_cast<std::uint32_t>(random() % attack.addresses);
        tables.announce(fake, at(fake, hostile_ip(address, attack.prefixes)));
      }
    };
    flood(5000);
    // Each honest newcomer finds a place at once, and keeps it.
    for (std::uint32_t number = 0; number < kHonest; ++number) {
      CHECK(tables.announce(number, at(number, honest_ip(number))));
      flood(200);
    }
    for (int round = 0; round < 5; ++round) {
      flood(2000);
      for (std::uint32_t number = 0; number < kHonest; ++number) {
        CHECK(tables.table.find(content(number), peer_id(number)) != nullptr);
      }
    }
    CHECK(tables.gone > 0);
  }
}

TEST_CASE("contents that were there before the flood stay") {
  Tables tables({.content_count_max = kContents});
  for (std::uint32_t number = 0; number < kHonest; ++number)
    REQUIRE(tables.announce(number, at(number, honest_ip(number))));
  // One of them lives next door to the attacker.
  REQUIRE(tables.announce(kHonest, at(kHonest, "10.0.0.200")));
  for (std::uint32_t fake = kFake; fake < kFake + 5000; ++fake)
    tables.announce(fake, at(fake, hostile_ip(fake % 10, 1)));
  for (std::uint32_t number = 1; number <= 20; ++number)
    CHECK(tables.announce(100 + number, at(100 + number, honest_ip(100 + number))));
  for (std::uint32_t number = 0; number <= kHonest; ++number)
    CHECK(tables.table.find(content(number), peer_id(number)) != nullptr);
}

TEST_CASE("a content with peers of several prefixes goes after those of one announcer") {
  Tables tables({.content_count_max = 10});
  const std::string big = "192.0.2.1";  // one that shares much
  for (std::uint32_t number = 0; number < 10; ++number)
    REQUIRE(tables.announce(number, at(1000, big)));
  for (std::uint32_t number = 0; number < 3; ++number)
    for (std::uint32_t peer = 0; peer < 3; ++peer)
      REQUIRE(tables.announce(number, at(peer, honest_ip(peer))));
  // Seven weigh a whole place, three a quarter: newcomers take four of the seven, oldest first.
  std::uint32_t came = 0;
  for (std::uint32_t number = 20; number < 30; ++number)
    came += tables.announce(number, at(number, "203.0.113.1")) ? 1 : 0;
  CHECK(came == 4);
  for (std::uint32_t number = 0; number < 3; ++number)
    CHECK(tables.table.counts(content(number)).incomplete == 4);
  for (std::uint32_t number = 3; number < 7; ++number)
    CHECK(tables.table.counts(content(number)) == SwarmCounts{});
}

TEST_CASE("fake peers of any number of addresses keep no honest peer out of a content") {
  for (const Attack& attack : kAttacks) {
    CAPTURE(attack.addresses);
    CAPTURE(attack.prefixes);
    // The same for the peers of one content, and for those of all.
    const bool of_all = attack.addresses == 10;
    RegistryLimits limits;
    (of_all ? limits.peer_count_max : limits.peers_per_content_max) = kContents;
    Tables tables(limits);
    std::uint32_t fake = kFake;
    const auto flood = [&](int count) {
      for (int i = 0; i < count; ++i, ++fake)
        tables.announce(of_all ? fake % 7 : 1,
                        at(fake, hostile_ip(fake % attack.addresses, attack.prefixes)));
    };
    flood(3000);
    for (std::uint32_t number = 0; number < kHonest; ++number) {
      CHECK(tables.announce(1, at(number, honest_ip(number))));
      flood(100);
    }
    for (std::uint32_t number = 0; number < kHonest; ++number)
      CHECK(tables.table.find(content(1), peer_id(number)) != nullptr);
  }
}

TEST_CASE("when those who filled a content have gone its places are there for others") {
  Tables tables({.peers_per_content_max = 100});
  for (std::uint32_t number = 0; number < 200; ++number)
    tables.announce(1, at(kFake + number, hostile_ip(0, 1)));
  CHECK(tables.announce(1, at(1, honest_ip(1))));
  for (std::uint32_t number = 0; number < 200; ++number)
    tables.table.leave(content(1), peer_id(kFake + number));
  for (std::uint32_t number = 1; number <= 100; ++number)
    CHECK(tables.announce(1, at(number, honest_ip(1))));  // one address alone again
  CHECK_FALSE(tables.announce(1, at(101, honest_ip(1))));
}

TEST_CASE("samples are spread over prefixes: few addresses do not hide the others") {
  Tables tables({});
  for (std::uint32_t fake = kFake; fake < kFake + 3000; ++fake)
    tables.announce(1, at(fake, hostile_ip(fake % 250, 1)));
  for (std::uint32_t number = 0; number < 20; ++number)
    tables.announce(1, at(number, honest_ip(number)));
  Random random(3);
  for (int round = 0; round < 50; ++round) {
    std::set<PeerId> drawn;
    for (const auto& one : tables.sample({peer_id(0), 50, true}, random))
      CHECK(drawn.insert(one.id).second);
    CHECK(drawn.size() == 50);
    for (std::uint32_t number = 1; number < 20; ++number) CHECK(drawn.contains(peer_id(number)));
  }
}

TEST_CASE("a reply names one address only so often, however many peers claim to be there") {
  Tables tables({.listed_per_network_max = 16});
  const std::string victim = "192.0.2.66";
  for (std::uint32_t number = 0; number < 500; ++number)
    REQUIRE(tables.announce(1, at(kFake + number, victim)));
  Random random(4);
  const auto named = [&] { return tables.sample({peer_id(0), 200, true}, random).size(); };
  CHECK(named() == 16);
  CHECK(tables.table.counts(content(1)).incomplete == 500);
  // Those that are not listed come up when others leave, with their next announce.
  for (std::uint32_t number = 0; number < 10; ++number)
    tables.table.leave(content(1), peer_id(kFake + number));
  CHECK(named() == 6);
  for (std::uint32_t number = 100; number < 110; ++number)
    REQUIRE(tables.announce(1, at(kFake + number, victim)));
  CHECK(named() == 16);
}

TEST_CASE("a peer that comes from another address is listed there alone, and weighs there") {
  Tables tables({.content_count_max = 4});
  REQUIRE(tables.announce(1, at(1, "192.0.2.1")));
  REQUIRE(tables.announce(1, at(1, "198.51.100.1")));
  Random random(5);
  const auto listed = tables.sample({peer_id(0), 9, true}, random);
  REQUIRE(listed.size() == 1);
  CHECK(proto::unpack(listed[0]).ip == "198.51.100.1");
  CHECK(tables.table.leave(content(1), peer_id(1)));
  CHECK_FALSE(tables.table.leave(content(1), peer_id(1)));
  CHECK(tables.table.counts(content(1)) == SwarmCounts{});
}

TEST_CASE("a table that was far from full gives every honest newcomer a place when it is flooded") {
  Tables tables({.peer_count_max = 1000, .peers_per_content_max = 10'000, .peer_places_spare = 0});
  for (std::uint32_t number = 0; number < kHonest; ++number)
    REQUIRE(tables.announce(number % 5, at(number, honest_ip(number))));
  std::uint32_t fake = kFake;
  const auto flood = [&](std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i, ++fake)
      tables.announce(fake % 7, at(fake, hostile_ip(fake, 1)));
  };
  flood(5000);
  for (std::uint32_t number = 0; number < kHonest; ++number) {
    CHECK(tables.table.find(content(number % 5), peer_id(number)) != nullptr);
    CHECK(tables.announce(number % 5, at(number, honest_ip(number))));  // is counted now
  }
  flood(5000);
  for (std::uint32_t number = kHonest; number < 2 * kHonest; ++number)
    CHECK(tables.announce(number % 5, at(number, honest_ip(number))));
  flood(5000);
  for (std::uint32_t number = 0; number < 2 * kHonest; ++number)
    CHECK(tables.table.find(content(number % 5), peer_id(number)) != nullptr);
}

TEST_CASE("an attacker that came while the table was far from full gives way to honest peers") {
  Tables tables({.peer_count_max = 1000, .peers_per_content_max = 10'000, .peer_places_spare = 0});
  for (std::uint32_t fake = kFake; fake < kFake + 749; ++fake)
    REQUIRE(tables.announce(fake % 7, at(fake, hostile_ip(fake, 1))));
  // Four of each prefix, each announcing itself once.
  for (std::uint32_t number = 0; number < 800; ++number)
    CHECK(tables.announce(number % 5, at(number, honest_ip(number % 200))));
  for (std::uint32_t number = 0; number < 800; ++number)
    CHECK(tables.table.find(content(number % 5), peer_id(number)) != nullptr);
  CHECK(tables.gone == 549);
}

TEST_CASE("peers come, come again, change and leave on both sides of the bound of counting") {
  Tables tables({.peer_count_max = 200, .peers_per_content_max = 1000, .peer_places_spare = 0});
  std::mt19937_64 random(3);
  std::set<std::pair<std::uint32_t, std::uint32_t>> model;  // content and peer
  for (int step = 0; step < 20'000; ++step) {
    const bool grows = step / 1000 % 2 == 0;
    const auto number = static_cast<std::uint32_t>(random() % 190);
    const std::uint32_t swarm = number % 4;
    Peer one = at(number, honest_ip(number % 100));
    one.complete = random() % 4 == 0;
    if (random() % 3 != (grows ? 0u : 1u) && (grows || random() % 4 == 0)) {
      REQUIRE(tables.announce(swarm, one));
      model.emplace(swarm, number);
    } else {
      CHECK(tables.table.leave(content(swarm), peer_id(number)) ==
            (model.erase({swarm, number}) > 0));
    }
  }
  std::size_t count = 0;
  tables.table.for_each([&](const ContentId&, const PackedPeer&) { ++count; });
  CHECK(count == model.size());
  CHECK(tables.gone == 0);
}

}  // namespace
}  // namespace firn::tracker::test
