// Which neighbour gets a block of which generation from a source.
#include "client/core/send/source/source_policy.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/core/facts.h"
#include "tests/core/send/choice/scene.h"

using namespace firn;
using namespace firn::test;
using core::Neighbour;
using core::policy::SourcePolicy;

TEST_CASE("a source goes in sequence, each source block once, to all in turn") {
  Scene s(5, 4, 3, true);
  SourcePolicy source(shape_of(5, 4), false);
  std::vector<std::uint32_t> order;
  std::map<core::PeerKey, int> served;
  for (int i = 0; i < 20; ++i) {
    const auto choice = s.choose(source, true);
    REQUIRE(choice);
    REQUIRE(choice->source_index);
    order.push_back(choice->generation * 4 + *choice->source_index);
    ++served[choice->peer];
    s.send(*choice);
    source.served(*choice, s.now);
  }
  for (std::uint32_t i = 0; i < 20; ++i) CHECK(order[i] == i);
  for (const auto& [key, count] : served) {
    CHECK(count >= 6);
    CHECK(count <= 7);
  }
}

TEST_CASE("after the first pass a source serves what each lacks, the least served first") {
  Scene s(3, 2, 1, true);
  SourcePolicy source(shape_of(3, 2), false);
  for (int i = 0; i < 6; ++i) {
    const auto choice = s.choose(source, true);
    REQUIRE(choice);
    s.send(*choice);
    source.served(*choice, s.now);
  }
  CHECK_FALSE(s.choose(source, true));  // all on its way
  // It crashed: one generation is whole, of the others it has a row each or nothing.
  s.tell(1, {{1, 1, 4, {}}, {2, 0, 4, {}}}, {{0, 1}}, 6);
  std::multiset<std::uint32_t> sent;
  while (const auto choice = s.choose(source, true)) {
    CHECK_FALSE(choice->source_index);
    sent.insert(choice->generation);
    s.send(*choice);
    source.served(*choice, s.now);
    REQUIRE(sent.size() < 10);
  }
  CHECK(sent == std::multiset<std::uint32_t>{1, 2, 2});
}

TEST_CASE("after the first pass as many generations are served as a receiver has senders for") {
  struct Case {
    std::uint32_t n, senders, among;
  };
  for (const Case& one : {Case{1024, 12, 4}, {512, 12, 8}, {64, 12, 20}, {64, 2, 16}, {64, 1, 1}}) {
    const std::uint32_t n = one.n, among = one.among;
    CAPTURE(n);
    CAPTURE(among);
    constexpr std::uint32_t kGenerations = 20;
    Scene s(kGenerations, n, 1, true);
    SourcePolicy source(shape_of(kGenerations, n), true);
    core::policy::Choice choice;
    choice.peer = 1;
    for (std::uint32_t i = 0; i < kGenerations * n; ++i) {
      choice.generation = i / n;
      source.served(choice, s.now);
    }
    std::vector<proto::GenerationState> lacking;
    for (std::uint32_t g = 0; g < kGenerations; ++g) lacking.push_back({g, n / 2, n, {}});
    proto::State state;
    state.credit = 100'000;
    state.neighbours = one.senders;
    state.generations = lacking;
    REQUIRE(s.neighbours.at(1).apply_state(std::move(state)));
    std::set<std::uint32_t> generations;
    for (int i = 0; i < 30; ++i) {
      const auto chosen = s.choose(source, true);
      REQUIRE(chosen);
      generations.insert(chosen->generation);
      s.send(*chosen);
      source.served(*chosen, s.now);
    }
    CHECK(generations.size() == among);
    CHECK(*generations.rbegin() == among - 1);
  }
}

TEST_CASE("a source finds what a neighbour takes, however far ahead of what it has no memory for") {
  constexpr std::uint32_t kGenerations = 2000, kN = 4;
  for (const std::uint32_t ahead : {70u, 1000u, 1999u}) {
    CAPTURE(ahead);
    Scene s(kGenerations, kN, 1, true);
    SourcePolicy source(shape_of(kGenerations, kN), true);
    core::policy::Choice served;
    served.peer = 1;
    for (std::uint32_t i = 0; i < kGenerations * kN; ++i) {
      served.generation = i / kN;
      source.served(served, s.now);
    }
    std::vector<proto::GenerationState> entries;  // of most it takes none, of one the rest
    for (std::uint32_t g = 0; g < kGenerations; ++g) entries.push_back({g, 0, 0, {}});
    entries[ahead] = {ahead, 1, 3, {}};
    s.tell(1, entries);
    for (int i = 0; i < 3; ++i) {
      const auto chosen = s.choose(source, true);
      REQUIRE(chosen);
      CHECK(chosen->generation == ahead);
      s.send(*chosen);
      source.served(*chosen, s.now);
    }
    CHECK_FALSE(s.choose(source, true));
  }
}

TEST_CASE("more of a generation is chosen as long as the neighbour lacks it and takes blocks") {
  constexpr std::uint32_t kCredit = 6;
  Scene s(3, 4, 1, true, kCredit);
  SourcePolicy source(shape_of(3, 4), false);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sent;  // generation, source block
  for (auto next = s.choose(source, true); next;) {
    REQUIRE(next->source_index);
    sent.emplace_back(next->generation, *next->source_index);
    s.send(*next);
    source.served(*next, s.now);
    next = source.again(*next, s.holdings, s.neighbours);
    if (!next) next = s.choose(source, true);  // of the next generation, as far as credit goes
  }
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected{{0, 0}, {0, 1}, {0, 2},
                                                                      {0, 3}, {1, 0}, {1, 1}};
  CHECK(sent == expected);
}

TEST_CASE("a source gives a neighbour of low worth its blocks one by one") {
  Scene s(5, 4, 2, true);
  SourcePolicy source(shape_of(5, 4), false);
  for (core::PeerKey key = 1; key <= 2; ++key) s.peer(key).worth = facts::kLowWorth;
  const auto choice = s.choose(source, false);
  REQUIRE(choice);
  REQUIRE(choice->low_worth);
  s.send(*choice);
  CHECK_FALSE(source.again(*choice, s.holdings, s.neighbours));
}

TEST_CASE("a source gives almost nothing to a peer that does not upload") {
  Scene s(100, 4, 2, true);
  SourcePolicy source(shape_of(100, 4), false);
  proto::State state;
  state.credit = 100'000;
  state.upload_kib = 1;
  REQUIRE(s.peer(1).apply_state(proto::State(state)));
  state.upload_kib = 1000;
  REQUIRE(s.peer(2).apply_state(std::move(state)));
  std::map<core::PeerKey, int> served;
  for (int i = 0; i < 300; ++i) {
    const auto choice = s.choose(source, true);
    REQUIRE(choice);
    ++served[choice->peer];
    s.send(*choice);
    source.served(*choice, s.now);
  }
  CHECK(served[1] <= 2);
  // Alone it gets all there is.
  source.neighbour_left(s.peer(2));
  s.neighbours.erase(2);
  CHECK(s.choose(source, true));
}

TEST_CASE("a peer that claims an enormous uplink gets no more than its bound from a source") {
  std::set<double> shares;
  for (const std::uint32_t claim : {64'000u, 4'000'000u, 0xffffffffu}) {
    CAPTURE(claim);
    Scene s(1100, 4, 12, true);
    SourcePolicy source(shape_of(1100, 4), false);
    for (core::PeerKey key = 1; key <= 12; ++key) {
      proto::State state;
      state.credit = 100'000;
      state.upload_kib = key == 1 ? claim : 1000;
      REQUIRE(s.peer(key).apply_state(std::move(state)));
    }
    std::map<core::PeerKey, double> served;
    for (int i = 0; i < 4000; ++i) {
      const auto choice = s.choose(source, true);
      REQUIRE(choice);
      ++served[choice->peer];
      s.send(*choice);
      source.served(*choice, s.now);
    }
    for (core::PeerKey key = 2; key <= 12; ++key) CHECK(served[1] <= 16 * served[key]);
    shares.insert(served[1]);
  }
  CHECK(shares.size() == 1);  // it gains nothing by claiming still more
}

TEST_CASE("rows that have got lost come before the next ones of a source") {
  Scene s(4, 4, 2, true);
  SourcePolicy source(shape_of(4, 4), false);
  const auto choose = [&] {
    const auto choice = s.choose(source, true);
    REQUIRE(choice);
    s.send(*choice);
    source.served(*choice, s.now);
    return choice->generation;
  };
  for (int i = 0; i < 8; ++i) choose();
  // All has arrived, and of generation 0 no peer holds more than three rows.
  s.tell(1, {{0, 3, 4, {}}}, {}, 4);
  s.tell(2, {{0, 2, 4, {}}}, {{1, 1}}, 4);
  s.now += facts::kNextLostRowsReview;
  CHECK(choose() == 2);
  s.now += facts::kStandsStill;
  CHECK(choose() == 0);
  CHECK(choose() == 2);
}

TEST_CASE("a source sends coded blocks of what a neighbour holds in part already") {
  Scene s(2, 4, 2, true);
  s.tell(2, {{0, 1, 4, {}}});
  SourcePolicy source(shape_of(2, 4), false);
  std::set<std::uint32_t> plain;
  for (int i = 0; i < 8; ++i) {
    const auto choice = s.choose(source, true);
    REQUIRE(choice);
    if (choice->source_index) plain.insert(choice->generation);
    s.send(*choice);
    source.served(*choice, s.now);
  }
  CHECK(plain == std::set<std::uint32_t>{1});
}

TEST_CASE("a source serves no neighbour without credit, and none that has everything") {
  Scene s(2, 4, 3, true);
  SourcePolicy source(shape_of(2, 4), false);
  s.tell(1, {}, {{0, 2}});
  Neighbour& broke = s.peer(2);
  while (broke.may_send()) {
    broke.book_block(0, 0);
    broke.block_departed(1, 0);
  }
  const auto choice = s.choose(source, true);
  REQUIRE(choice);
  CHECK(choice->peer == 3);
}

TEST_CASE("in a large mesh all of low worth get a small part together") {
  for (const bool small : {false, true}) {
    CAPTURE(small);
    Scene s(50, 64, 10, true);
    SourcePolicy source(shape_of(50, 64), false);
    for (core::PeerKey key = 2; key <= 10; ++key) s.peer(key).worth = facts::kLowWorth;
    int low_worth = 0;
    for (int i = 0; i < 640; ++i) {
      const auto choice = s.choose(source, small);
      REQUIRE(choice);
      CHECK(choice->low_worth == (!small && choice->peer != 1));
      low_worth += choice->peer != 1;
      s.send(*choice);
      source.served(*choice, s.now);
    }
    if (small) {
      CHECK(low_worth > 320);  // nine with a quarter of a share each
    } else {
      CHECK(low_worth >= 5);
      CHECK(low_worth <= 64);
    }
  }
}

TEST_CASE("where nobody else needs blocks those of low worth get them") {
  Scene s(5, 4, 2, true);
  SourcePolicy source(shape_of(5, 4), false);
  s.peer(1).worth = facts::kLowWorth;
  s.tell(2, {}, {{0, 5}});
  for (int i = 0; i < 20; ++i) {
    const auto choice = s.choose(source, false);
    REQUIRE(choice);
    CHECK(choice->peer == 1);
    s.send(*choice);
    source.served(*choice, s.now);
  }
}

TEST_CASE("what a sink was given is given to others, unless one of them has it") {
  Scene s(4, 4, 4, true);
  SourcePolicy source(shape_of(4, 4), false);
  std::map<std::uint32_t, int> to_sink;  // blocks by generation
  const auto next = [&] {
    const auto choice = s.choose(source, false);
    REQUIRE(choice);
    s.send(*choice);
    source.served(*choice, s.now);
    return *choice;
  };
  for (int i = 0; i < 12; ++i) {
    const auto choice = next();
    if (choice.peer == 1) ++to_sink[choice.generation];
  }
  REQUIRE(to_sink[0] > 0);
  REQUIRE(to_sink[1] > 0);
  s.peer(1).worth = facts::kWorthOfSink;
  s.tell(2, {}, {{0, 1}});  // it has generation 0 from others
  source.rows_lost(s.neighbours);
  std::map<std::uint32_t, int> again;
  for (int i = 0; i < to_sink[1] + to_sink[2]; ++i) {
    const auto choice = next();
    CHECK(choice.peer != 1);
    CHECK_FALSE(choice.source_index);  // source blocks have been sent once
    ++again[choice.generation];
  }
  CHECK(again[0] == 0);
  CHECK(again[1] == to_sink[1]);
  CHECK(again[2] == to_sink[2]);
}
