#include "tracker/fair_shares.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

namespace firn::tracker::test {
namespace {

using Shares = FairShares<int>;

// What is to go for one more from `ip`; -1: the newcomer is turned away.
int leaving(const Shares& shares, const std::string& ip) {
  const int* item = shares.gives_way(where_of(ip));
  return item == nullptr ? -1 : *item;
}

TEST_CASE("one address may hold everything, and pushes out nothing of its own") {
  Shares shares;
  for (int i = 0; i < 10; ++i) shares.add(where_of("192.0.2.1"), i);
  CHECK(leaving(shares, "192.0.2.1") == -1);
  CHECK(leaving(shares, "192.0.2.2") == 0);     // the longest there
  CHECK(leaving(shares, "198.51.100.1") == 0);  // of another prefix
}

TEST_CASE("an empty table has nothing that could go") {
  CHECK(leaving({}, "192.0.2.1") == -1);
}

TEST_CASE("a newcomer that would then hold as much as the largest is turned away") {
  Shares shares;
  for (int i = 0; i < 3; ++i) shares.add(where_of("192.0.2.1"), i);
  shares.add(where_of("198.51.100.1"), 10);
  CHECK(leaving(shares, "198.51.100.1") == 0);  // two to two then
  shares.add(where_of("198.51.100.2"), 11);
  CHECK(leaving(shares, "198.51.100.1") == -1);
  CHECK(leaving(shares, "198.51.100.9") == -1);  // its prefix counts as one
  CHECK(leaving(shares, "203.0.113.1") == 0);
}

TEST_CASE("in the largest prefix the largest network gives way, and its neighbours keep theirs") {
  Shares shares;
  shares.add(where_of("192.0.2.7"), 100);  // the oldest of all
  for (int i = 0; i < 5; ++i) shares.add(where_of("192.0.2.1"), i);
  CHECK(leaving(shares, "198.51.100.1") == 0);
  CHECK(leaving(shares, "192.0.2.8") == 0);
  // IPv6: /64 within /48.
  Shares six;
  six.add(where_of("2001:db8:1:7::1"), 100);
  for (int i = 0; i < 5; ++i) six.add(where_of("2001:db8:1:1::" + std::to_string(i)), i);
  CHECK(leaving(six, "2001:db8:2::1") == 0);
  CHECK(leaving(six, "2001:db8:1:1::9") == -1);
}

TEST_CASE("what others vouch for weighs less, and goes after all that nothing proves") {
  Shares shares;
  const Shares::Place first = shares.add(where_of("192.0.2.1"), 0);
  for (int i = 1; i < 4; ++i) shares.add(where_of("192.0.2.1"), i);
  shares.reweigh(first, Shares::kWhole / 8);
  CHECK(leaving(shares, "198.51.100.1") == 1);
  for (int i = 0; i < 2; ++i) shares.add(where_of("198.51.100.1"), 10 + i);
  CHECK(leaving(shares, "198.51.100.1") == 1);  // three eighths of a place remain between them
  shares.reweigh(first, Shares::kWhole);        // proven no more: it is the newest
  CHECK(leaving(shares, "203.0.113.1") == 1);
}

TEST_CASE("an entry that is touched is the newest of its network") {
  Shares shares;
  const Shares::Place first = shares.add(where_of("192.0.2.1"), 0);
  for (int i = 1; i < 4; ++i) shares.add(where_of("192.0.2.1"), i);
  shares.touch(first);
  CHECK(leaving(shares, "198.51.100.1") == 1);
}

TEST_CASE("shares are what a count of all entries says, whatever came and went") {
  Shares shares;
  struct Entry {
    std::string ip;
    std::uint32_t weight;
    Shares::Place place;
  };
  std::map<int, Entry> model;
  std::mt19937_64 random(7);
  const auto some_ip = [&] {
    return "10." + std::to_string(random() % 3) + ".0." + std::to_string(random() % 3);
  };
  const auto some_weight = [&] { return Shares::kWhole / (1 + random() % 8 * (random() % 2)); };
  for (int step = 0; step < 4000; ++step) {
    const bool add = model.empty() || random() % 3 != 0;
    if (add && model.size() < 40) {
      const std::string ip = some_ip();
      const auto weight = static_cast<std::uint32_t>(some_weight());
      model[step] = {ip, weight, shares.add(where_of(ip), step, weight)};
    } else {
      auto one = model.begin();
      std::advance(one, random() % model.size());
      if (random() % 2 == 0) {
        one->second.weight = static_cast<std::uint32_t>(some_weight());
        shares.reweigh(one->second.place, one->second.weight);
      } else {
        shares.remove(one->second.place);
        model.erase(one);
      }
    }
    std::map<std::string, std::uint64_t> prefixes, networks;
    std::uint64_t most = 0;
    for (const auto& [item, entry] : model) {
      const Where where = where_of(entry.ip);
      networks[where.network] += entry.weight;
      most = std::max(most, prefixes[where.prefix] += entry.weight);
    }
    const std::string newcomer = some_ip();
    const Where own = where_of(newcomer);
    const int item = leaving(shares, newcomer);
    if (item < 0) {
      // Its prefix would hold as much as the largest, or it is the largest itself.
      CHECK((model.empty() || prefixes[own.prefix] + Shares::kWhole >= most));
      continue;
    }
    const Entry& gone = model.at(item);
    const Where of = where_of(gone.ip);
    CHECK(prefixes[of.prefix] == most);
    for (const auto& [other, entry] : model) {
      const Where where = where_of(entry.ip);
      if (where.prefix != of.prefix) continue;
      CHECK(networks[where.network] <= networks[of.network]);
      const bool proven = entry.weight != Shares::kWhole;
      if (where.network == of.network && !proven) CHECK(gone.weight == Shares::kWhole);
    }
    const bool same = of.prefix == own.prefix;
    CHECK((same ? networks[own.network] : prefixes[own.prefix]) + Shares::kWhole <
          (same ? networks[of.network] : most));
  }
}

}  // namespace
}  // namespace firn::tracker::test
