// What hostile peers do to what an honest core says and hears.
#include "tests/hostile/saboteur.h"

#include <doctest/doctest.h>

#include "codec/span_basis.h"

using namespace firn;
using core::kSecond;

namespace {

constexpr std::uint32_t kN = 8, kBytes = 16;
const Shape kShape{kN, kBytes, std::uint64_t{4} * kN* kBytes};

hostile::Saboteur saboteur(const std::string& deeds) {
  return {hostile::parse_deeds(deeds).value(), kShape, 7};
}

// Its payload begins with its vector: a combination of such blocks is one as well.
proto::Block block(codec::CoefficientStream& random) {
  proto::Block made;
  made.coefficients.resize(kN);
  random.fill(made.coefficients);
  made.payload = proto::Payload::allocate(kBytes);
  const auto bytes = made.payload.writable();
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = i < kN ? made.coefficients[i] : 0;
  return made;
}

bool is_true(const proto::Block& block) {
  for (std::size_t i = 0; i < kBytes; ++i) {
    if (block.payload.bytes()[i] != (i < kN ? block.coefficients[i] : 0)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("deeds are read from words, and what is none of them is refused") {
  const hostile::Deeds deeds = hostile::parse_deeds("sparse:10+reports+fresh:3").value();
  CHECK(deeds.falsifies == doctest::Approx(0.1));
  CHECK(deeds.lies_in_reports);
  CHECK(deeds.renamed == 3 * kSecond);
  CHECK_FALSE(deeds.none());
  for (const char* word : {"", "sparse", "low-rank:0", "noise+", "polite"}) {
    CHECK_FALSE(hostile::parse_deeds(word).ok());
  }
}

TEST_CASE("as many blocks are false as the deeds say, and it is known which") {
  codec::CoefficientStream random(1, 2);
  for (const auto& [deeds, least, most] :
       {std::tuple{"noise", 1000, 1000}, {"byte", 1000, 1000}, {"sparse:10", 60, 140}}) {
    auto bad = saboteur(deeds);
    int falsified = 0;
    for (int i = 0; i < 1000; ++i) {
      proto::Block sent = block(random);
      const bool is_false = bad.sends(sent, 0);
      CHECK(is_false != is_true(sent));
      falsified += is_false;
    }
    CHECK(falsified >= least);
    CHECK(falsified <= most);
  }
}

TEST_CASE("one that takes turns is honest first") {
  codec::CoefficientStream random(1, 2);
  auto bad = saboteur("turns:5");
  proto::Block sent = block(random);
  CHECK_FALSE(bad.sends(sent, 4 * kSecond));
  CHECK(bad.sends(sent, 6 * kSecond));
  sent = block(random);
  CHECK_FALSE(bad.sends(sent, 11 * kSecond));
}

TEST_CASE("of low rank is all that is sent of a generation, and true") {
  codec::CoefficientStream random(1, 2);
  auto bad = saboteur("low-rank:3");
  codec::SpanBasis basis(kN);
  int innovative = 0;
  for (int i = 0; i < 50; ++i) {
    proto::Block sent = block(random);
    CHECK_FALSE(bad.sends(sent, 0));
    CHECK(is_true(sent));
    innovative += basis.insert(sent.coefficients);
  }
  CHECK(innovative == 3);
}

TEST_CASE("a replayed block is the first one, byte for byte") {
  codec::CoefficientStream random(1, 2);
  auto bad = saboteur("replay");
  proto::Block first = block(random), later = block(random);
  bad.sends(first, 0);
  bad.sends(later, 0);
  CHECK(later.coefficients == first.coefficients);
  CHECK(later.payload == first.payload);
}

TEST_CASE("ranks, credit and reports are what the deeds make of them") {
  auto liar = saboteur("rank-liar+reports+silent");
  liar.befriend(42);
  proto::State state;
  state.credit = 9;
  state.generations.push_back({1, 2, 3, {}});
  state.received = {{7, 100}, {42, 5}};
  liar.says(state);
  CHECK(state.generations[0].rank == kN - 1);
  REQUIRE(state.received.size() == 1);
  CHECK(state.received[0].peer_prefix == 42);
  CHECK(state.received[0].blocks > 100);
  proto::PeerMessage heard = state;
  liar.hears(2, heard);
  CHECK(std::get<proto::State>(heard).credit == 0);
}
