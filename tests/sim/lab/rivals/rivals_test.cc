// The rivals do what they are said to do, so that comparisons with them mean something.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tests/sim/lab/bound.h"
#include "tests/sim/lab/rivals/source_only.h"
#include "tests/sim/lab/rivals/super_seeding.h"

using namespace firn;
using namespace firn::sim;

namespace {

constexpr TimeUs kLong = 3'600'000'000;

RivalRules uncoded(std::uint32_t blocks, std::uint32_t pipeline = 0) {
  RivalRules rules;
  rules.groups = blocks;
  rules.pipeline = pipeline;
  return rules;
}

RivalRules coded(std::uint32_t generations, std::uint32_t n, std::uint32_t pipeline = 0) {
  RivalRules rules = uncoded(generations, pipeline);
  rules.per_group = n;
  return rules;
}

void populate(RivalSwarm& swarm, int peers, double source_mbit = 8) {
  swarm.add({.link = {source_mbit * kMbit}, .source = true});
  for (int i = 0; i < peers; ++i) swarm.add({.link = {8 * kMbit, 0, 10'000 + i % 7 * 5'000}});
}

// Every peer has each block once, and no peer sent a block that it had not received.
void check_conserved(const RivalSwarm& swarm) {
  std::uint64_t sent = 0, received = 0;
  for (std::size_t i = 0; i < swarm.size(); ++i) {
    const LabPeerResult r = swarm.result(i);
    sent += r.blocks_sent;
    received += r.innovative + r.redundant;
    const double frame = 16397 * 1.05;
    const double half_sent = r.bytes_sent - static_cast<double>(r.blocks_sent) * frame;
    CHECK(half_sent >= -1);
    CHECK(half_sent <= frame + 1);  // at the end
    if (swarm.spec(i).source) continue;
    CHECK(r.completed > 0);
    CHECK(r.innovative == swarm.blocks_in_content());
  }
  CHECK(received <= sent);
  CHECK(sent - received <= 4 * swarm.size());  // still on their way
}

template <class Swarm>
void check_runs(Swarm&& swarm, int peers) {
  populate(swarm, peers);
  REQUIRE(swarm.run(kLong));
  check_conserved(swarm);
  const double last = static_cast<double>(swarm.now()) * 1e-6;
  CHECK(last > fluid_bound(run_of(swarm)));
}

// What the source sends, and what each peer receives, as they happen.
template <class Base>
class Watched : public Base {
 public:
  using Base::Base;
  std::vector<BlockId> from_source;
  std::set<std::pair<std::size_t, BlockId>> received;
  using Base::group_of;
  bool twice = false;

 protected:
  std::optional<BlockId> source_block(std::size_t to) override {
    const auto id = Base::source_block(to);
    if (id) from_source.push_back(*id);
    return id;
  }
  bool gains(std::size_t peer, BlockId id) override {
    twice |= !received.insert({peer, id}).second;
    return Base::gains(peer, id);
  }
};

}  // namespace

TEST_CASE("every strategy gives everybody everything, and conserves blocks and bytes") {
  for (const std::uint32_t pipeline : {0u, 1u, 4u}) {
    for (const int peers : {1, 12, 60}) {
      CAPTURE(pipeline);
      CAPTURE(peers);
      check_runs(RivalSwarm(uncoded(200, pipeline), 1), peers);
      check_runs(SuperSeeding(uncoded(200, pipeline), 2), peers);
      check_runs(SourceOnly(coded(7, 30, pipeline), SourceOnly::Order::kSpread, 3), peers);
      check_runs(SourceOnly(coded(7, 30, pipeline), SourceOnly::Order::kSequence, 4), peers);
    }
  }
}

TEST_CASE("the same seed gives the same run, another seed another") {
  const auto last = [](std::uint64_t seed) {
    RivalSwarm swarm(uncoded(100, 4), seed);
    populate(swarm, 30);
    REQUIRE(swarm.run(kLong));
    return swarm.now();
  };
  CHECK(last(1) == last(1));
  CHECK(last(1) != last(2));
}

TEST_CASE("a super-seeding source repeats no block before each was sent once") {
  for (const double source_mbit : {8.0, 64.0}) {
    Watched<SuperSeeding> swarm(uncoded(150, 2), 5);
    populate(swarm, 20, source_mbit);
    REQUIRE(swarm.run(kLong));
    REQUIRE(swarm.from_source.size() >= 150);
    const std::set<BlockId> first(swarm.from_source.begin(), swarm.from_source.begin() + 150);
    CHECK(first.size() == 150);
  }
}

TEST_CASE("a super-seeding source goes by what the swarm holds: what is lost is sent again") {
  Watched<SuperSeeding> swarm(uncoded(50), 6);
  swarm.add({.link = {8 * kMbit}, .source = true});
  // It gets half of the content and crashes before any other peer is there.
  swarm.add({.link = {8 * kMbit}, .crashes = 440'000});
  swarm.add({.link = {8 * kMbit}, .joins = 500'000});
  swarm.add({.link = {8 * kMbit}, .joins = 500'000});
  REQUIRE(swarm.run(kLong));
  const std::size_t lost = swarm.result(1).innovative;
  REQUIRE(lost > 10);
  CHECK(swarm.from_source.size() >= 50 + lost);
  std::set<BlockId> all(swarm.from_source.begin(), swarm.from_source.end());
  CHECK(all.size() == 50);
}

TEST_CASE("blocks coded at the source are innovative by the rank of their vectors") {
  Watched<SourceOnly> swarm(coded(4, 16), SourceOnly::Order::kSpread, 7);
  populate(swarm, 12, 16);
  REQUIRE(swarm.run(kLong));
  // No peer sends what the source has not made, and the source makes each block once.
  std::set<BlockId> made(swarm.from_source.begin(), swarm.from_source.end());
  CHECK(made.size() == swarm.from_source.size());
  std::uint64_t innovative = 0;
  for (std::size_t peer = 1; peer <= 12; ++peer) {
    std::map<std::uint32_t, codec::SpanBasis> spans;
    for (const auto& [who, id] : swarm.received) {
      if (who != peer) continue;
      CHECK(made.contains(id));
      const std::vector<std::uint8_t> vector = swarm.vector(id);
      CHECK(std::any_of(vector.begin(), vector.end(), [](auto c) { return c > 1; }));
      spans.try_emplace(swarm.group_of(id), 16).first->second.insert(vector);
    }
    for (const auto& [g, span] : spans) innovative += span.rank();
  }
  CHECK(innovative == 12 * 4 * 16);
  CHECK_FALSE(swarm.twice);
}

TEST_CASE("coding at the source only: any n blocks of a generation do, uncoded it must be all") {
  // The source is gone after 1.3 copies. Of coded blocks there is enough in the swarm to spare;
  // blocks that are asked for at random have not all been sent by then.
  RivalRules rules = coded(8, 32);
  rules.source_copies = 1.3;
  SourceOnly with(rules, SourceOnly::Order::kSpread, 8);
  populate(with, 12, 16);
  CHECK(with.run(kLong));
  CHECK(with.source_left() > 0);
  RivalRules plain = uncoded(256);
  plain.source_copies = 1.02;
  SuperSeeding super(plain, 8);
  populate(super, 12, 16);
  CHECK(super.run(kLong));
  plain.source_copies = 0.9;
  SuperSeeding early(plain, 8);
  populate(early, 12, 16);
  CHECK_FALSE(early.run(kLong));
}

TEST_CASE("crashes and late comers: who stays has everything") {
  for (std::uint64_t seed = 20; seed < 40; ++seed) {
    CAPTURE(seed);
    for (const std::uint32_t pipeline : {0u, 3u}) {
      RivalSwarm swarm(uncoded(120, pipeline), seed);
      SourceOnly other(coded(6, 20, pipeline), SourceOnly::Order::kSpread, seed);
      for (RivalSwarm* one : {&swarm, static_cast<RivalSwarm*>(&other)}) {
        populate(*one, 20);
        for (int i = 0; i < 20; ++i) {
          LabPeerSpec spec{.link = {4 * kMbit, i % 3 == 0 ? 6 * kMbit : 0}};
          spec.joins = 100'000 * i;
          spec.listens = i % 4 != 0;
          spec.takes_only = i % 7 == 0;
          if (i % 3 == 0) spec.crashes = spec.joins + 700'000;
          if (i % 5 == 0) spec.leaves_after = 50'000;
          one->add(spec);
        }
        REQUIRE(one->run(kLong));
        for (std::size_t i = 1; i < one->size(); ++i) {
          const LabPeerResult r = one->result(i);
          if (one->spec(i).crashes == kNever) CHECK(r.completed > 0);
          if (one->spec(i).takes_only) CHECK(r.blocks_sent == 0);
        }
      }
    }
  }
}
