// Which rows are mixed for a neighbour.
#include "client/core/send/choice/mixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "codec/encode.h"
#include "codec/span_basis.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Holdings;
using core::Rows;
using core::SlotSet;
using core::Standing;
using core::policy::choose_mixture;
using core::policy::MixtureFor;

namespace {

constexpr std::uint32_t kN = 32;

struct Relay {
  explicit Relay(std::uint64_t seed, std::uint32_t n = kN)
      : random(seed, 1), holdings(Shape{n, 1, n}), n(n) {}

  void hold(std::uint8_t sender, bool first_hand = false, Standing standing = Standing::kAnswered) {
    const auto vector =
        std::make_shared<const std::vector<std::uint8_t>>(codec::random_vector(n, random));
    REQUIRE(holdings.insert(0, vector, {peer_id(sender), first_hand, standing}, 0));
  }
  const core::OpenGeneration& open() const { return *holdings.find_open(0); }
  std::vector<std::uint32_t> choose(const MixtureFor& wanted) {
    return choose_mixture(open(), wanted, random);
  }

  codec::CoefficientStream random;
  Holdings holdings;
  const std::uint32_t n;
};

bool contains(const std::vector<std::uint32_t>& slots, std::uint32_t slot) {
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

}  // namespace

TEST_CASE("all rows are mixed where there is no bound, but those that the receiver sent") {
  Relay relay(1);
  for (const std::uint8_t sender : {1, 2, 3, 2, 1, 2}) relay.hold(sender);
  CHECK(relay.choose({peer_id(9)}) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
  CHECK(relay.choose({peer_id(2)}) == std::vector<std::uint32_t>{0, 2, 4});
}

TEST_CASE("where the receiver sent all rows they are mixed all the same") {
  Relay relay(2);
  for (int i = 0; i < 3; ++i) relay.hold(7);
  CHECK(relay.choose({peer_id(7)}) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(relay.choose({peer_id(7), Rows::kAll, 2}).size() == 2);
}

TEST_CASE("rows that were in no mixture come first, those straight from the source before others") {
  Relay relay(3);
  for (int i = 0; i < 20; ++i) relay.hold(1, i == 5 || i == 18);
  SlotSet mixed;
  for (std::uint32_t slot = 0; slot < 16; ++slot) {
    if (slot != 3) mixed.add(slot);
  }
  // Not mixed: 3, 16, 17, 18, 19, of which 18 is first-hand.
  CHECK(relay.choose({peer_id(9), Rows::kAll, 1, &mixed}) == std::vector<std::uint32_t>{18});
  CHECK(relay.choose({peer_id(9), Rows::kAll, 3, &mixed}) == std::vector<std::uint32_t>{3, 16, 18});
  const auto eight = relay.choose({peer_id(9), Rows::kAll, 8, &mixed});
  CHECK(eight.size() == 8);
  for (const std::uint32_t slot : {3u, 16u, 17u, 18u, 19u}) CHECK(contains(eight, slot));
}

TEST_CASE("what chance adds are rows of all ages") {
  Relay relay(4);
  SlotSet mixed;
  for (std::uint32_t slot = 0; slot < 30; ++slot) {
    relay.hold(1);
    mixed.add(slot);
  }
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 200; ++i) {
    const auto slots = relay.choose({peer_id(9), Rows::kAll, 4, &mixed});
    seen.insert(slots.begin(), slots.end());
  }
  CHECK(seen.size() == 30);
}

TEST_CASE("a choice has the rows that it may have, in order, each once, as many as there are") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Relay relay(seed);
    codec::CoefficientStream random(seed, 2);
    const std::uint32_t rows = 1 + random.below(kN);
    for (std::uint32_t i = 0; i < rows; ++i) {
      relay.hold(static_cast<std::uint8_t>(1 + random.below(3)), random.below(2) == 0,
                 random.below(3) == 0 ? Standing::kProven : Standing::kAnswered);
    }
    SlotSet mixed;
    for (std::uint32_t slot = 0; slot < rows; ++slot) {
      if (random.below(2) == 0) mixed.add(slot);
    }
    for (const Rows which : {Rows::kAll, Rows::kProven}) {
      if (relay.open().count(which) == 0) continue;
      const PeerId receiver = peer_id(static_cast<std::uint8_t>(1 + random.below(4)));
      const std::size_t most = random.below(12);
      const auto slots = relay.choose({receiver, which, most, &mixed});
      const std::uint32_t own = relay.open().rows_from(receiver, which);
      const std::size_t others = relay.open().count(which) - own;
      const std::size_t may = others > 0 ? others : own;
      CHECK(slots.size() == (most == 0 ? may : std::min(most, may)));
      CHECK(std::is_sorted(slots.begin(), slots.end()));
      CHECK(std::adjacent_find(slots.begin(), slots.end()) == slots.end());
      for (const std::uint32_t slot : slots) {
        CHECK(relay.open().has(slot, which));
        CHECK((others == 0 || relay.open().senders[slot] != receiver));
      }
    }
  }
}

// A receiver that gets everything from one relay: nearly every mixture must be news to it.
TEST_CASE("mixtures of sixteen rows bring a receiver to full rank with few to spare") {
  for (const std::uint32_t n : {32u, 64u, 128u, 256u}) {
    std::uint32_t spare = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(n);
      CAPTURE(seed);
      Relay relay(seed, n);
      codec::SpanBasis receiver(n);
      SlotSet mixed;
      std::uint32_t sent = 0;
      // The relay sends as fast as it receives, then goes on.
      while (receiver.rank() < n) {
        if (relay.holdings.rank(0) < n) relay.hold(1, true);
        const auto slots = relay.choose({peer_id(9), Rows::kAll, 16, &mixed});
        for (const std::uint32_t slot : slots) mixed.add(slot);
        receiver.insert(relay.holdings.recode(0, slots, relay.random).vector);
        REQUIRE(++sent < 3 * n);
      }
      spare += sent - n;
    }
    CHECK(spare <= 5 * (1 + n / 16));
  }
}
