// What a peer holds: ranks, slots, recoding.
#include "client/core/rows/holdings.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "client/core/send/choice/mixture.h"
#include "codec/encode.h"
#include "codec/kernels.h"
#include "codec/random.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Holdings;
using core::Rows;
using core::Vector;

namespace {

Vector vector_of(std::vector<std::uint8_t> bytes) {
  return std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes));
}

Vector random_vector(std::uint32_t n, codec::CoefficientStream& random) {
  std::vector<std::uint8_t> bytes(n);
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random.below(3));  // often redundant
  return vector_of(std::move(bytes));
}

// All that Holdings keeps as sums, counted anew.
void check_sums(const Holdings& holdings, const std::vector<bool>& wanted) {
  std::uint64_t rank = 0;
  Holdings::Wanted sums;
  std::uint32_t frontier = 0;
  for (std::uint32_t g = 0; g < holdings.generation_count(); ++g) {
    rank += holdings.rank(g);
    if (holdings.rank(g) > 0) frontier = g + 1;
    const bool verified = holdings.verified().contains(g);
    const bool given_up = holdings.given_up().contains(g);
    REQUIRE(holdings.wants(g) == (wanted[g] && !verified && !given_up));
    REQUIRE_FALSE((verified && given_up));
    if (!wanted[g]) continue;
    const std::uint64_t bytes = holdings.shape().bytes_in_generation(g);
    sums.blocks += holdings.blocks_in(g);
    sums.rank += holdings.rank(g);
    if (!given_up) sums.missing += holdings.blocks_in(g) - holdings.rank(g);
    sums.bytes += bytes;
    if (verified) sums.verified_bytes += bytes;
  }
  REQUIRE(holdings.total_rank() == rank);
  REQUIRE(holdings.wanted() == sums);
  REQUIRE(holdings.frontier() >= frontier);
  for (const auto& [g, open] : holdings.open()) {
    REQUIRE_FALSE(holdings.verified().contains(g));
    std::uint32_t taken = 0;
    for (const Vector& v : open.vectors) taken += v ? 1 : 0;
    REQUIRE(taken == open.rows);
    REQUIRE(open.basis.rank() == open.rows);
    REQUIRE(open.rows > 0);  // one without rows is not open
    REQUIRE(open.first_hand.rows <= open.rows);
    REQUIRE(open.senders.size() == open.vectors.size());
  }
  for (std::uint32_t g = 0; g < holdings.generation_count(); ++g)
    REQUIRE(holdings.held().contains(g) == (holdings.rank(g) > 0));
}

}  // namespace

TEST_CASE("sums and slots stay right over random histories") {
  codec::CoefficientStream random(8, 9);
  for (const std::uint32_t n : {1u, 2u, 5u}) {
    CAPTURE(n);
    Holdings holdings(Shape{n, 3, 7 * n * 3 - 2});  // the last generation is not full
    REQUIRE(holdings.generation_count() == 7);
    std::vector<bool> wanted(7, true);
    for (int step = 0; step < 3000; ++step) {
      const std::uint32_t g = random.below(7);
      switch (random.below(14)) {
        case 0:
          holdings.reset(g);
          break;
        case 1:
          if (holdings.rank(g) == n) holdings.set_verified(g);
          break;
        case 2:
          if (holdings.rank(g) == n && holdings.find_open(g)) holdings.set_decoding(g);
          break;
        case 4:
          if (random.below(8) == 0) holdings.give_up(g);
          break;
        case 5:
          if (random.below(8) != 0) break;
          for (std::size_t each = 0; each < wanted.size(); ++each)
            wanted[each] = random.below(2) == 0;
          holdings.want(core::GenerationSet::of(wanted));
          break;
        case 3:
          holdings.restore(g, random.below(n + 2), random_vector(n, random), {peer_id(1)}, 0);
          break;
        default: {
          const std::uint32_t before = holdings.rank(g);
          const bool wants = holdings.wants(g);
          const auto slot = holdings.insert(g, random_vector(n, random),
                                            {peer_id(2), random.below(2) == 0}, step);
          REQUIRE(holdings.rank(g) == before + (slot ? 1 : 0));
          if (slot) {
            REQUIRE(wants);
            REQUIRE(*slot < n);
            REQUIRE(holdings.find_open(g)->senders[*slot] == peer_id(2));
          }
        }
      }
      check_sums(holdings, wanted);
    }
  }
}

TEST_CASE("a full generation hands out a vector and a sender for each slot") {
  Holdings holdings(Shape{3, 1, 9});
  CHECK(holdings.restore(1, 2, vector_of({1, 0, 0}), {peer_id(1)}, 0));
  CHECK(holdings.insert(1, vector_of({0, 1, 0}), {peer_id(2), true}, 5) == 0u);
  CHECK(holdings.insert(1, vector_of({0, 2, 0}), {peer_id(2), true}, 5) == std::nullopt);
  CHECK(holdings.insert(1, vector_of({0, 0, 1}), {peer_id(3)}, 6) == 1u);
  const auto* open = holdings.find_open(1);
  REQUIRE(open);
  REQUIRE(open->vectors.size() == 3);
  CHECK((*open->vectors[2])[0] == 1);
  CHECK(open->senders == std::vector<PeerId>{peer_id(2), peer_id(3), peer_id(1)});
  CHECK(open->last_growth == 6);
  CHECK(open->first_hand.count(Rows::kAll) == 1);
  holdings.set_decoding(1);
  CHECK(holdings.insert(1, vector_of({0, 2, 0}), {peer_id(2), true}, 5) == std::nullopt);
  CHECK(holdings.rank(1) == 3);
}

TEST_CASE("a mix names slots that hold rows and the vector that they make") {
  codec::CoefficientStream random(1, 3);
  Holdings holdings(Shape{6, 1, 6});
  holdings.restore(0, 4, vector_of({1, 0, 0, 0, 0, 0}), {peer_id(1)}, 0);
  holdings.restore(0, 1, vector_of({0, 0, 7, 0, 0, 0}), {peer_id(1)}, 0);
  for (int i = 0; i < 100; ++i) {
    const auto mix = holdings.recode(0, {1, 4}, random);
    CHECK(mix.slots == std::vector<std::uint32_t>{1, 4});
    REQUIRE(mix.mix.size() == 2);
    CHECK(mix.vector[0] == mix.mix[1]);
    CHECK(mix.vector[0] != 0);
    CHECK(mix.vector[2] != 0);
    CHECK(mix.vector[5] == 0);
  }
}

TEST_CASE("a lone row is never passed on as it is") {
  codec::CoefficientStream random(1, 4);
  Holdings holdings(Shape{2, 1, 2});
  holdings.restore(0, 0, vector_of({3, 5}), {peer_id(1)}, 0);
  for (int i = 0; i < 1000; ++i) {
    CHECK(holdings.recode(0, {0}, random).vector != std::vector<std::uint8_t>{3, 5});
  }
}

namespace {

// What Holdings should keep of one generation: its rows by slot, and nothing else.
class PlainRows {
 public:
  struct Row {
    Vector vector;
    PeerId sender;
    bool first_hand = false, proven = false;
  };
  std::map<std::uint32_t, Row> rows;

  std::uint32_t count(Rows which) const {
    return count_if(which, [](const Row&) { return true; });
  }
  template <typename Condition>
  std::uint32_t count_if(Rows which, const Condition& holds) const {
    return static_cast<std::uint32_t>(std::count_if(rows.begin(), rows.end(), [&](auto& entry) {
      return (which == Rows::kAll || entry.second.proven) && holds(entry.second);
    }));
  }
  std::vector<std::uint32_t> some_slots(codec::CoefficientStream& random) const {
    std::vector<std::uint32_t> slots;
    for (const auto& [slot, row] : rows) {
      if (random.below(3) == 0) slots.push_back(slot);
    }
    return slots;
  }
};

void check_rows(const Holdings& holdings, const PlainRows& model,
                codec::CoefficientStream& random) {
  const core::OpenGeneration* open = holdings.find_open(0);
  REQUIRE((open != nullptr) == !model.rows.empty());
  REQUIRE(holdings.total_rank() == model.rows.size());
  for (const Rows which : {Rows::kAll, Rows::kProven}) {
    REQUIRE(holdings.rank(0, which) == model.count(which));
    if (!open) continue;
    REQUIRE(open->first_hand.count(which) ==
            model.count_if(which, [](auto& r) { return r.first_hand; }));
    for (std::uint8_t id = 1; id <= 3; ++id) {
      const PeerId sender = peer_id(id);
      REQUIRE(open->rows_from(sender, which) ==
              model.count_if(which, [&](auto& row) { return row.sender == sender; }));
    }
    std::vector<std::uint8_t> z(holdings.generation_size());
    random.fill(z);
    REQUIRE(open->reaches(z, which) == (model.count_if(which, [&](auto& row) {
              return codec::dot(*row.vector, z) != 0;
            }) > 0));
    if (model.count(which) == 0) continue;
    const Holdings::Mix mix = holdings.recode(
        0, core::policy::choose_mixture(*open, {peer_id(9), which}, random), random);
    REQUIRE(mix.slots.size() == model.count(which));
    std::vector<const std::uint8_t*> vectors;
    for (const std::uint32_t slot : mix.slots) {
      const PlainRows::Row& row = model.rows.at(slot);
      REQUIRE((which == Rows::kAll || row.proven));
      vectors.push_back(row.vector->data());
    }
    std::vector<std::uint8_t> expected(holdings.generation_size());
    codec::mix_vectors(codec::kernels(), mix.mix, vectors, expected);
    REQUIRE(mix.vector == expected);
  }
}

}  // namespace

TEST_CASE("rows that are proven and removed are counted and mixed as a plain model has it") {
  codec::CoefficientStream random(5, 6);
  for (const std::uint32_t n : {1u, 2u, 6u}) {
    CAPTURE(n);
    Holdings holdings(Shape{n, 2, n * 2});
    PlainRows model;
    for (int step = 0; step < 4000; ++step) {
      const std::uint32_t kind = random.below(9);
      const std::vector<std::uint32_t> slots = model.some_slots(random);
      if (kind == 0 && !model.rows.empty()) {
        holdings.remove(0, slots);
        for (const std::uint32_t slot : slots) model.rows.erase(slot);
      } else if (kind == 1 && !model.rows.empty()) {
        holdings.mark(0, slots, Rows::kProven);
        for (const std::uint32_t slot : slots) model.rows.at(slot).proven = true;
      } else if (kind == 2 && random.below(4) == 0) {
        holdings.doubt_all(true);
        for (auto& [slot, row] : model.rows) row.proven = false;
      } else if (kind > 2) {
        const PeerId sender = peer_id(static_cast<std::uint8_t>(1 + random.below(3)));
        const auto standing = static_cast<core::Standing>(random.below(3));
        const bool first_hand = random.below(2) == 0;
        const Vector vector = random_vector(n, random);
        const auto slot = holdings.insert(0, vector, {sender, first_hand, standing}, step);
        if (slot) {
          const bool fresh =
              model.rows
                  .emplace(*slot, PlainRows::Row{vector, sender, first_hand,
                                                 standing == core::Standing::kProven})
                  .second;
          REQUIRE(fresh);
        }
      }
      check_rows(holdings, model, random);
      check_sums(holdings, {true});
    }
  }
}
