// Generations fetched as source blocks against a leaf list, through the doors of the core.
#include <bit>
#include <map>
#include <set>

#include "client/core/neighbour/block_bits.h"
#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::DecodeOutcome;

namespace {

constexpr std::uint32_t kBlocksMany = 8, kBlockSize = 64;
constexpr PeerKey kLiar = 1, kGood = 2, kOther = 3;

// Every source block is zeros, as Fixture::block makes them.
Digest leaf() {
  return merkle_leaf(std::vector<std::uint8_t>(kBlockSize));
}
std::vector<Digest> leaves() {
  return {kBlocksMany, leaf()};
}

class PlainFixture : public Fixture {
 public:
  explicit PlainFixture(Manifest content = with_digests(plain_manifest(20, kBlocksMany,
                                                                       kBlockSize)))
      : Fixture(content) {
    start();
    join(kLiar, peer_id(1), 0, true);
    join(kGood, peer_id(2), 0, true);
    join(kOther, peer_id(3), 0, true);
  }
  static Manifest with_digests(Manifest manifest) {
    manifest.info.generation_digests.assign(manifest.info.shape.generation_count(),
                                            merkle_root(leaves()));
    return manifest;
  }
  // Whether it was taken as a row.
  bool send(PeerKey peer, proto::Block block) {
    pass(300 * kMillisecond);
    take<core::StoreRow>();
    block.sequence = ++sequence_[peer];
    say(peer, std::move(block));
    return !take<core::StoreRow>().empty();
  }
  bool send(PeerKey peer, std::uint32_t g, std::uint32_t index, bool is_false = false) {
    proto::Block one = block(g, 1, index);
    if (is_false) one.payload.writable()[5] = 1;
    return send(peer, std::move(one));
  }
  // Generation g decodes to false data.
  void spoil(std::uint32_t g) {
    for (std::uint32_t i = 0; i < kBlocksMany; ++i) send(i % 2 == 0 ? kGood : kOther, g, i);
    REQUIRE(take<core::Decode>().size() == 1);
    core.generation_decoded(g, DecodeOutcome::kCorrupt, now);
    drain();
    decline_sums();
    pass(kMillisecond);
  }
  // Nobody makes check sums, by which the rows could be judged one by one.
  void decline_sums() {
    for (PeerKey peer = kLiar; peer <= kOther; ++peer) {
      for (const proto::CheckRequest& request : heard<proto::CheckRequest>(peer)) {
        for (const std::uint32_t g : request.generations) say(peer, proto::CheckReply{g, {}, {}});
      }
    }
  }
  // The neighbours that were asked for leaves, which is forgotten.
  std::vector<PeerKey> asked() {
    std::vector<PeerKey> all;
    for (PeerKey peer = kLiar; peer <= kOther; ++peer) {
      all.insert(all.end(), heard<proto::LeafRequest>(peer).size(), peer);
    }
    return all;
  }
  // The same, if there was one.
  PeerKey the_asked() {
    const auto all = asked();
    REQUIRE(all.size() == 1);
    return all[0];
  }
  void spoil_and_answer(std::uint32_t g) {
    spoil(g);
    say(the_asked(), proto::LeafReply{g, leaves()});
    pass(kMillisecond);
  }
  // What the neighbour was asked for of g last; empty: coded blocks.
  std::vector<std::uint8_t> wanted(PeerKey peer, std::uint32_t g) {
    std::vector<std::uint8_t> last;
    for (const proto::State& state : heard<proto::State>(peer)) {
      for (const auto& entry : state.generations) {
        if (entry.generation == g) last = entry.wanted_blocks;
      }
    }
    return last;
  }

 private:
  std::map<PeerKey, std::uint32_t> sequence_;
};

}  // namespace

TEST_CASE("of a generation that decoded to false data the leaves are asked for, once") {
  PlainFixture fixture;
  fixture.spoil(3);
  CHECK(fixture.asked().size() == 1);
  fixture.pass(facts::kLeavesOverdue / 2);
  CHECK(fixture.asked().empty());
}

TEST_CASE("with its leaves a generation takes true source blocks, and no others") {
  PlainFixture fixture;
  fixture.spoil_and_answer(3);
  CHECK_FALSE(fixture.send(kGood, fixture.coded_block(3, 1, {1, 2, 3, 4, 5, 6, 7, 8})));
  CHECK(fixture.send(kGood, 3, 0));
  CHECK_FALSE(fixture.send(kLiar, 3, 1, true));
  CHECK(
      fixture.noticed(peer_id(1).text() + " at 192.0.2.1:4000 sent a false block of generation 3"));
  CHECK(fixture.closed(kLiar));
  for (std::uint32_t i = 1; i < kBlocksMany; ++i)
    CHECK(fixture.send(i % 2 == 0 ? kGood : kOther, 3, i));
  REQUIRE(fixture.take<core::Decode>().size() == 1);
  fixture.core.generation_decoded(3, DecodeOutcome::kVerified, fixture.now);
  fixture.drain();
  CHECK(fixture.core.report().generations_verified == 1);
  CHECK(fixture.core.report().peers == 2);
}

TEST_CASE("a false block convicts although its sender says that it does not answer for it") {
  PlainFixture fixture;
  fixture.spoil_and_answer(3);
  proto::Block one = fixture.block(3, 1, 4);
  one.payload.writable()[0] = 7;
  one.unproven = one.recoded = true;
  fixture.send(kLiar, std::move(one));
  CHECK(fixture.closed(kLiar));
}

TEST_CASE("holders of the whole are asked for different blocks, and for all of them together") {
  PlainFixture fixture;
  fixture.spoil_and_answer(3);
  fixture.pass(kSecond / 2);
  std::set<std::uint32_t> all;
  for (PeerKey peer = kLiar; peer <= kOther; ++peer) {
    const auto bits = fixture.wanted(peer, 3);
    REQUIRE(bits.size() == 1);
    for (std::uint32_t i = 0; i < kBlocksMany; ++i) {
      if (bits[0] >> i & 1) CHECK(all.insert(i).second);
    }
  }
  CHECK(all.size() == kBlocksMany);
  // What is there is not asked for again.
  REQUIRE(fixture.send(kGood, 3, 2));
  fixture.pass(kSecond / 2);
  for (PeerKey peer = kLiar; peer <= kOther; ++peer) CHECK((fixture.wanted(peer, 3)[0] & 4) == 0);
}

TEST_CASE("where some have shown themselves a suspect is asked for one block that is missing") {
  PlainFixture fixture;
  fixture.spoil_and_answer(0);
  fixture.send(kLiar, 0, 0, true);  // from now on false rows are about
  REQUIRE(fixture.closed(kLiar));
  REQUIRE(fixture.send(kGood, 0, 3));
  std::set<std::uint32_t> asked;
  const auto count = [](const std::vector<std::uint8_t>& bits) {
    return bits.empty() ? 0 : std::popcount(bits[0]);
  };
  constexpr TimeUs kStep = 100 * kMillisecond;
  fixture.pass(5 * kStep);
  for (const PeerKey peer : {kGood, kOther}) fixture.wanted(peer, 0);  // from before that
  for (TimeUs waited = 5 * kStep; waited + 4 * kStep < facts::kStalled; waited += kStep) {
    fixture.pass(kStep);
    const auto all = fixture.wanted(kGood, 0), bits = fixture.wanted(kOther, 0);
    if (!all.empty()) CHECK(count(all) == kBlocksMany - 1);
    if (bits.empty()) continue;  // it was told of nothing else
    REQUIRE(count(bits) == 1);
    asked.insert(static_cast<std::uint32_t>(std::countr_zero(bits[0])));
  }
  CHECK(asked.size() > 1);  // in turn any that is missing
  CHECK_FALSE(asked.contains(3));
  REQUIRE(fixture.send(kOther, 0, *asked.begin()));
  fixture.pass(facts::kStandsStill + kMillisecond);
  CHECK(count(fixture.wanted(kOther, 0)) > 1);  // it has shown itself
}

TEST_CASE("blocks that one holder keeps back are asked from the others") {
  PlainFixture fixture;
  fixture.spoil_and_answer(3);
  REQUIRE(fixture.send(kGood, 3, 0));
  std::map<PeerKey, std::uint8_t> ever;
  for (int i = 0; i < 8; ++i) {
    fixture.pass(kSecond / 2);
    for (PeerKey peer = kLiar; peer <= kOther; ++peer) {
      const auto bits = fixture.wanted(peer, 3);
      if (!bits.empty()) ever[peer] |= bits[0];
    }
  }
  for (PeerKey peer = kLiar; peer <= kOther; ++peer) CHECK(ever[peer] == 0xfe);
}

TEST_CASE("where source blocks do not come coded ones are taken, until they prove false") {
  PlainFixture fixture;
  fixture.spoil_and_answer(3);
  REQUIRE(fixture.send(kGood, 3, 0));
  const auto coded = [&](std::uint8_t first) {
    return fixture.send(kOther, fixture.coded_block(3, 1, {0, first, 3, 4, 5, 6, 7, 8}));
  };
  fixture.pass(facts::kBlocksGivenUp - kSecond);
  CHECK_FALSE(coded(2));
  CHECK(fixture.send(kOther, 3, 1));  // that was in time
  fixture.pass(facts::kBlocksGivenUp - kSecond);
  CHECK_FALSE(coded(2));
  fixture.pass(kSecond);
  fixture.wanted(kOther, 3);
  fixture.pass(kSecond);
  CHECK(coded(2));
  // The leaves are there: nobody is asked when it decodes to false data once more.
  for (std::uint32_t i = 2; i < kBlocksMany; ++i) fixture.send(kGood, 3, i);
  REQUIRE(fixture.take<core::Decode>().size() == 1);
  fixture.asked();
  fixture.core.generation_decoded(3, DecodeOutcome::kCorrupt, fixture.now);
  fixture.drain();
  fixture.pass(kMillisecond);
  CHECK(fixture.asked().empty());
  // All others fitted their leaves, and have stayed: the coded one was the false one.
  CHECK(fixture.closed(kOther));
  CHECK_FALSE(fixture.send(kGood, fixture.coded_block(3, 1, {0, 9, 3, 4, 5, 6, 7, 8})));
  CHECK_FALSE(fixture.send(kGood, 3, 5));
  CHECK(fixture.send(kGood, 3, 7));
}

TEST_CASE("leaves that do not fit the digest ban their sender, and another is asked") {
  for (const bool short_list : {false, true}) {
    CAPTURE(short_list);
    PlainFixture fixture;
    fixture.spoil(3);
    const PeerKey first = fixture.the_asked();
    auto false_leaves = leaves();
    false_leaves[7].bytes[0] ^= 1;
    if (short_list) false_leaves.resize(kBlocksMany - 1);
    fixture.say(first, proto::LeafReply{3, false_leaves});
    CHECK(fixture.closed(first));
    fixture.pass(kMillisecond);
    const PeerKey second = fixture.the_asked();
    CHECK(second != first);
    fixture.say(second, proto::LeafReply{3, leaves()});
    CHECK(fixture.noticed("block by block"));
    CHECK(fixture.core.report().peers == 2);
  }
}

TEST_CASE("a neighbour that has no leaves, or says nothing, is not asked again before the others") {
  PlainFixture fixture;
  fixture.spoil(3);
  std::set<PeerKey> all;
  for (int i = 0; i < 3; ++i) {
    const PeerKey peer = fixture.the_asked();
    CHECK(all.insert(peer).second);
    if (i % 2 == 0) fixture.say(peer, proto::LeafReply{3, {}});
    fixture.pass(i % 2 == 0 ? kMillisecond : facts::kLeavesOverdue);
  }
  CHECK(all.size() == 3);
  fixture.pass(2 * facts::kLeavesOverdue);
  CHECK(fixture.asked().size() >= 1);
  CHECK(fixture.core.report().peers == 3);
}

TEST_CASE("leaves that nobody asked for change nothing, those of no generation are a fault") {
  PlainFixture fixture;
  for (int i = 0; i < 100; ++i) fixture.say(kLiar, proto::LeafReply{3, leaves()});
  CHECK_FALSE(fixture.closed(kLiar));
  CHECK(fixture.send(kGood, fixture.coded_block(3, 1, {1, 2, 3, 4, 5, 6, 7, 8})));
  // A late answer, and one of a peer that was not asked.
  fixture.spoil(4);
  const PeerKey asked = fixture.the_asked();
  fixture.say(asked % 3 + 1, proto::LeafReply{4, leaves()});
  CHECK_FALSE(fixture.noticed("block by block"));
  fixture.say(kLiar, proto::LeafReply{20, leaves()});
  CHECK(fixture.closed(kLiar));
}

TEST_CASE("rows of the authority survive a generation that decoded to false data") {
  PlainFixture fixture(PlainFixture::with_digests(vouched_manifest(20, kBlocksMany, kBlockSize)));
  fixture.join_certified(9, peer_id(9), peer_id(9));
  for (std::uint32_t i = 0; i < 3; ++i) REQUIRE(fixture.send(9, 3, i));
  for (std::uint32_t i = 3; i < kBlocksMany; ++i)
    REQUIRE(fixture.send(i % 2 == 0 ? kGood : kLiar, 3, i));
  REQUIRE(fixture.take<core::Decode>().size() == 1);
  fixture.core.peer_closed(9, fixture.now);
  fixture.core.generation_decoded(3, DecodeOutcome::kCorrupt, fixture.now);
  fixture.pass(facts::kSumsOverdue);
  CHECK(fixture.noticed("fetched again"));
  CHECK(fixture.core.report().rank == 3);
  const auto dropped = fixture.take<core::DropSlots>();
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].slots == std::vector<std::uint32_t>{3, 4, 5, 6, 7});
  CHECK(fixture.take<core::DropRows>().empty());
}

TEST_CASE("a peer that said it does not answer for a row is not blamed for it") {
  PlainFixture fixture;
  for (std::uint32_t i = 0; i < kBlocksMany; ++i) {
    proto::Block one = fixture.block(3, 1, i);
    one.unproven = true;
    REQUIRE(fixture.send(kGood, std::move(one)));
  }
  fixture.core.generation_decoded(3, DecodeOutcome::kCorrupt, fixture.now);
  fixture.drain();
  CHECK(fixture.noticed("fetched again"));
  CHECK_FALSE(fixture.closed(kGood));
}

// --- the serving side ---

TEST_CASE("leaves are made of what is verified, others are told that there are none") {
  PlainFixture fixture;
  for (std::uint32_t i = 0; i < kBlocksMany; ++i) REQUIRE(fixture.send(kGood, 3, i));
  fixture.core.generation_decoded(3, DecodeOutcome::kVerified, fixture.now);
  fixture.drain();
  fixture.say(kOther, proto::LeafRequest{{3, 4}});
  const auto wanted = fixture.take<core::MakeLeaves>();
  REQUIRE(wanted.size() == 1);
  CHECK(wanted[0].generation == 3);
  CHECK(wanted[0].peer == kOther);
  CHECK(fixture.heard<proto::LeafReply>(kOther) ==
        std::vector<proto::LeafReply>{proto::LeafReply{4, {}}});
  fixture.core.proof_made(kOther, proto::LeafReply{3, leaves()}, fixture.now);
  fixture.core.proof_made(77, proto::LeafReply{3, leaves()}, fixture.now);  // it has left
  fixture.drain();
  CHECK(fixture.heard<proto::LeafReply>(kOther) ==
        std::vector<proto::LeafReply>{proto::LeafReply{3, leaves()}});
  fixture.say(kOther, proto::LeafRequest{{20}});
  CHECK(fixture.closed(kOther));
}

TEST_CASE("a leaf list that has come is handed on before the generation is verified") {
  PlainFixture fixture;
  fixture.spoil_and_answer(3);
  fixture.say(kOther, proto::LeafRequest{{3}});
  CHECK(fixture.heard<proto::LeafReply>(kOther) ==
        std::vector<proto::LeafReply>{proto::LeafReply{3, leaves()}});
}

TEST_CASE("leaf lists are made at a bounded rate for each neighbour") {
  Fixture fixture(PlainFixture::with_digests(plain_manifest(20, kBlocksMany, kBlockSize)));
  fixture.start(true);
  fixture.join(kGood, peer_id(2), 0);
  fixture.join(kOther, peer_id(3), 0);
  const proto::LeafRequest most{std::vector<std::uint32_t>(limits::kLeafGenerationsMax, 3)};
  for (int i = 0; i < 20; ++i) fixture.say(kGood, most);
  CHECK(fixture.take<core::MakeLeaves>().size() == 2 * facts::kLeavesPerSecond);
  fixture.say(kOther, most);
  CHECK(fixture.take<core::MakeLeaves>().size() == limits::kLeafGenerationsMax);
  fixture.pass(kSecond);
  for (int i = 0; i < 20; ++i) fixture.say(kGood, most);
  CHECK(fixture.take<core::MakeLeaves>().size() == facts::kLeavesPerSecond);
}

TEST_CASE("a leaf request again and again is answered at a bounded rate, at nobody's cost") {
  constexpr int kReplayed = 60;  // seconds
  Fixture fixture(PlainFixture::with_digests(plain_manifest(20, kBlocksMany, kBlockSize)));
  fixture.start(true);
  fixture.join(kLiar, peer_id(1), 0);
  fixture.join(kGood, peer_id(2), 0);
  std::size_t made = 0, others = 0;
  for (int i = 0; i < 100 * kReplayed; ++i) {
    fixture.say(kLiar, proto::LeafRequest{{3}});
    made += fixture.take<core::MakeLeaves>().size();
    if (i % 100 == 0) {
      fixture.say(kGood, proto::LeafRequest{{3}});
      others += fixture.take<core::MakeLeaves>().size();
    }
    fixture.pass(10 * kMillisecond);
  }
  CHECK(made <= (2 + kReplayed) * facts::kLeavesPerSecond);
  CHECK(made >= kReplayed * facts::kLeavesPerSecond - facts::kLeavesPerSecond);
  CHECK(others == kReplayed);
  CHECK_FALSE(fixture.noticed("banned for"));
  CHECK(fixture.core.report().peers == 2);
  fixture.pass(60 * kSecond);
  CHECK(fixture.take<core::MakeLeaves>().empty());  // nothing was put off
}

TEST_CASE("a peer is sent the source blocks that it asks for, each once, and nothing else") {
  for (const bool source : {true, false}) {
    CAPTURE(source);
    Fixture fixture(PlainFixture::with_digests(plain_manifest(2, kBlocksMany, kBlockSize)));
    if (source) {
      fixture.start(true);
    } else {
      core::StartState state;
      state.verified = {true, false};
      fixture.core.start(fixture.manifest, state, false, fixture.now);
    }
    fixture.join(kGood, peer_id(2), 0);
    const std::vector<proto::GenerationState> entry = {
        {.generation = 0, .rank = 5, .quota = 8, .null_vector = {}, .wanted_blocks = {0x54}},
        {.generation = 1, .rank = 0, .quota = 0, .null_vector = {}}};
    fixture.say_state(kGood, 0, 100, entry);
    fixture.pass(kSecond);
    std::set<std::uint32_t> sent;
    for (const core::SendBlock& one : fixture.blocks_to(kGood)) {
      REQUIRE(one.block.source_index.has_value());
      CHECK(one.block.generation == 0);
      CHECK_FALSE(one.block.unproven);
      CHECK(sent.insert(*one.block.source_index).second);
    }
    fixture.pass(kSecond);
    for (const core::SendBlock& one : fixture.blocks_to(kGood)) {
      if (one.block.source_index) sent.insert(*one.block.source_index);
    }
    CHECK(sent == std::set<std::uint32_t>{2, 4, 6});
    // What is acknowledged and wanted still has got lost, and is sent again.
    fixture.say_state(kGood, 3, 100, entry);
    fixture.pass(kSecond);
    CHECK_FALSE(fixture.blocks_to(kGood).empty());
  }
}

TEST_CASE("source blocks that prove themselves are passed on before the generation is whole") {
  PlainFixture fixture;
  fixture.spoil_and_answer(3);
  REQUIRE(fixture.send(kGood, 3, 2));
  REQUIRE(fixture.send(kGood, 3, 5));
  fixture.join(5, peer_id(5), 0);
  fixture.say_state(5, 0, 100,
                    {{.generation = 3,
                      .rank = 0,
                      .quota = 8,
                      .null_vector = {},
                      .wanted_blocks = {0xdf}}});  // all but 5
  fixture.pass(kSecond);
  std::vector<std::uint32_t> plain;
  for (const core::SendBlock& one : fixture.blocks_to(5)) {
    CHECK(one.block.generation == 3);
    REQUIRE(one.block.source_index.has_value());
    CHECK(one.block.recoded);
    CHECK_FALSE(one.block.unproven);
    CHECK(one.slots.size() == 1);
    CHECK(one.mix == std::vector<std::uint8_t>{1});
    plain.push_back(*one.block.source_index);
  }
  CHECK(plain == std::vector<std::uint32_t>{2});
}

TEST_CASE("wanted blocks of a wrong length, or beyond the generation, are a fault") {
  for (const std::vector<std::uint8_t>& bits :
       {std::vector<std::uint8_t>{1, 0}, std::vector<std::uint8_t>{0x20}}) {
    Fixture fixture(plain_manifest(2, 5, kBlockSize));
    fixture.start(true);
    fixture.join(kGood, peer_id(2), 0);
    fixture.say_state(
        kGood, 0, 100,
        {{.generation = 0, .rank = 0, .quota = 4, .null_vector = {}, .wanted_blocks = bits}});
    CHECK(fixture.closed(kGood));
  }
}

TEST_CASE("a peer that asks for blocks of very many generations costs a bounded memory") {
  core::WantedBlocks wanted;
  for (std::uint32_t g = 0; g < 1000; ++g) wanted.at(g).keep({0xff}, true);
  std::uint32_t kept = 0;
  for (std::uint32_t g = 0; g < 1000; ++g) kept += wanted.find(g) != nullptr;
  CHECK(kept == limits::kWantedBlocksMax);
  wanted.at(999).sent(3);
  CHECK_FALSE(wanted.find(999)->open(3));
  CHECK(wanted.find(999)->open(4));
  wanted.at(999).keep({0x08}, false);
  CHECK_FALSE(wanted.find(999)->any_open());
  wanted.at(999).keep({0x08}, true);
  CHECK(wanted.find(999)->open(3));
  wanted.drop(999);
  CHECK(wanted.find(999) == nullptr);
}
