// Newcomers from a network whose peers took before, and gave nothing.
#include "client/core/mesh/predecessors.h"

#include "client/core/parts.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Predecessors;

namespace {

const std::string kHome = "192.0.2.7", kElsewhere = "192.0.2.8";

class Met {
 public:
  Met() : parts_(vouched_manifest(4, 8, 64).id, plain_options(), kSecond) {
    parts_.start(vouched_manifest(4, 8, 64).info);
  }
  // One comes, with what is left to it.
  core::Neighbour& join(const std::string& ip) {
    ++key_;
    core::Neighbour& n = *parts_.membership.opened(key_, numbered(key_), ip, 4000, 0, true);
    n.holds.set_shape(parts_.transfer->generations.holdings().shape());
    parts_.predecessors.greeted(n);
    return n;
  }
  void give(core::Neighbour& n, std::uint64_t blocks) {
    for (std::uint64_t i = 0; i < blocks; ++i) {
      n.book_block(0, parts_.context.now);
      n.block_departed(100, parts_.context.now);
    }
  }
  void leave(core::Neighbour& n) { parts_.membership.closed(n.key, ""); }
  // It comes, takes so much, and leaves.
  void visit(const std::string& ip, std::uint64_t blocks) {
    core::Neighbour& n = join(ip);
    give(n, blocks);
    leave(n);
  }
  void become_source() { parts_.life.complete(true, parts_.context.now); }
  void pass(TimeUs time) { parts_.context.now += time; }
  // How many blocks it can be given before it is in debt.
  std::uint64_t room(core::Neighbour& n) {
    std::uint64_t blocks = 0;
    for (; !n.in_debt(); ++blocks) give(n, 1);
    return blocks;
  }

 private:
  core::Parts parts_;
  PeerKey key_ = 0;
};

}  // namespace

TEST_CASE("a newcomer owes what others of its network took and did not pay for") {
  Met met;
  constexpr std::uint64_t kTook = facts::kEnoughToJudge + 1;
  met.visit(kHome, kTook);
  CHECK(met.room(met.join(kHome)) == facts::kDebt - kTook);
  CHECK(met.room(met.join(kElsewhere)) == facts::kDebt);
}

TEST_CASE("with its first new row it owes nothing") {
  Met met;
  met.visit(kHome, facts::kDebt);
  core::Neighbour& n = met.join(kHome);
  CHECK(n.in_debt());
  n.brought_news();
  CHECK_FALSE(n.in_debt());
  CHECK(met.room(n) >= facts::kDebt);
}

TEST_CASE("who brought something, took next to nothing or left long ago leaves nothing") {
  Met met;
  core::Neighbour& giver = met.join(kHome);
  met.give(giver, 100);
  giver.brought_news();
  met.leave(giver);
  for (int i = 0; i < 100; ++i) met.visit(kHome, facts::kEnoughToJudge - 1);
  CHECK(met.room(met.join(kHome)) == facts::kDebt);
  met.visit(kElsewhere, facts::kDebt);
  CHECK(met.join(kElsewhere).in_debt());
  met.pass(facts::kForgiven);
  CHECK(met.room(met.join(kElsewhere)) == facts::kDebt);
}

TEST_CASE("a source remembers those of low worth when they left, and they are counted") {
  Met met;
  met.become_source();
  const auto visit = [&met](double worth) {
    core::Neighbour& n = met.join(kHome);
    met.give(n, facts::kEnoughToJudge);
    n.worth = worth;
    met.leave(n);
  };
  visit(facts::kLowWorth);
  visit(facts::kWorthOfSink);
  core::Neighbour& next = met.join(kHome);
  CHECK(next.barren_before == 2);
  CHECK_FALSE(next.in_debt());
  CHECK(met.join(kElsewhere).barren_before == 0);
  // One from there was as good as others.
  visit(1);
  CHECK(met.join(kHome).barren_before == 0);
}

TEST_CASE("honest peers that leave a source do not keep the memory of a bad one alive") {
  Met met;
  met.become_source();
  for (int i = 0; i < 3; ++i) met.visit(kElsewhere, 100);
  core::Neighbour& bad = met.join(kHome);
  met.give(bad, 100);
  bad.worth = facts::kWorthOfSink;
  met.leave(bad);
  met.pass(facts::kForgiven / 2);
  met.visit(kElsewhere, 100);
  CHECK(met.join(kHome).barren_before == 1);
  CHECK(met.join(kElsewhere).barren_before == 0);
  met.pass(facts::kForgiven / 2);
  CHECK(met.join(kHome).barren_before == 0);
}

TEST_CASE("many networks do not fill the memory: the one that was quiet for longest gives way") {
  Met met;
  met.visit(kHome, facts::kDebt);
  for (std::size_t i = 0; i < 5000; ++i) {
    met.pass(kMillisecond);
    met.visit("10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250), facts::kDebt);
  }
  CHECK_FALSE(met.join(kHome).in_debt());
  CHECK(met.join("10.0.19.249").in_debt());
}
