// A peer without an authority near: holders of generations make check sums, and may lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "proto/base/limits.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

namespace firn::test {

inline constexpr std::uint32_t kGenerationSize = 4;
// Holders of everything, and two that hold nothing yet; kLess sends rows.
inline constexpr PeerKey kOne = 1, kTwo = 2, kThree = 3, kLess = 4, kIdle = 5;
// What all bytes of check sums are.
inline constexpr std::uint8_t kTrue = 1, kFalse = 2;
using Bytes = std::vector<std::uint8_t>;
using Slots = std::vector<std::uint32_t>;

class MakersFixture : public Fixture {
 public:
  explicit MakersFixture(const Manifest& content = plain_manifest(100, kGenerationSize, 64))
      : Fixture(content) {
    start();
    for (PeerKey peer = kOne; peer <= kThree; ++peer) join(peer, id(peer), 0, true);
    for (const PeerKey peer : {kLess, kIdle}) join(peer, id(peer), 0);
    pass(kMillisecond);
  }
  static PeerId id(PeerKey peer) { return peer_id(static_cast<std::uint8_t>(peer)); }

  // A row for which its sender answers, though it does not hold the generation. Whether it was
  // taken.
  bool send(PeerKey peer, std::uint32_t g, std::uint32_t index) {
    proto::Block row = block(g, 1, index);
    row.recoded = true;
    return send(peer, std::move(row));
  }
  bool send_unproven(PeerKey peer, std::uint32_t g, std::uint32_t index) {
    proto::Block row = block(g, 1, index);
    row.recoded = row.unproven = true;
    return send(peer, std::move(row));
  }
  // Of a peer that says that it holds the generation.
  bool send_first_hand(PeerKey peer, std::uint32_t g, std::uint32_t index) {
    return send(peer, block(g, 1, index));
  }
  bool send(PeerKey peer, proto::Block row) {
    pass(300 * kMillisecond);  // until it has been granted another
    take<core::StoreRow>();
    row.sequence = ++sequence_[peer];
    say(peer, std::move(row));
    pass(kMillisecond);
    return !take<core::StoreRow>().empty();
  }

  // The peers that were asked for sums of g since the last call, all under one key, which is
  // remembered.
  std::set<PeerKey> asked(std::uint32_t g) {
    collect();
    std::set<PeerKey> peers;
    std::set<Bytes> keys;
    for (auto& [peer, one] : std::exchange(requests_[g], {})) {
      peers.insert(peer);
      keys.insert(std::move(one));
    }
    REQUIRE(keys.size() <= 1);
    if (!keys.empty()) keys_[g] = *keys.begin();
    return peers;
  }
  // The same, once some are: a question waits for its turn.
  std::set<PeerKey> question(std::uint32_t g) {
    for (TimeUs waited = 0; waited < 20 * kSecond; waited += 50 * kMillisecond) {
      if (auto peers = asked(g); !peers.empty()) return peers;
      pass(50 * kMillisecond);
    }
    return {};
  }
  const Bytes& key(std::uint32_t g) const { return keys_.at(g); }
  // Sums of g under its key, all of whose bytes are this.
  void answer(PeerKey peer, std::uint32_t g, std::uint8_t sums) {
    answer(peer, {g, key(g), Bytes(kGenerationSize * facts::kSumBytes, sums)});
  }
  void answer(PeerKey peer, proto::CheckReply reply) {
    say(peer, std::move(reply));
    pass(kMillisecond);
  }
  // The slots of g that are to be judged, by such sums.
  Slots to_judge(std::uint32_t g, std::uint8_t sums = kTrue) {
    Slots all;
    for (const core::JudgeRows& action : take<core::JudgeRows>()) {
      CHECK(action.generation == g);
      CHECK(std::ranges::equal(action.key, key(g)));
      CHECK(std::ranges::equal(action.sums, Bytes(kGenerationSize * facts::kSumBytes, sums)));
      all.insert(all.end(), action.slots.begin(), action.slots.end());
    }
    return all;
  }
  void judged(std::uint32_t g, const Slots& right, const Slots& wrong) {
    core.rows_judged(g, right, wrong, true, now);
    drain();
    pass(kMillisecond);
  }
  void decoded(std::uint32_t g, core::DecodeOutcome outcome) {
    REQUIRE(take<core::Decode>().size() == 1);
    core.generation_decoded(g, outcome, now);
    drain();
    pass(kMillisecond);
  }
  // One alone has stated sums of g, these, and its rows were judged by them.
  void judge_by(PeerKey maker, std::uint32_t g, std::uint8_t sums, const Slots& right,
                const Slots& wrong) {
    const std::set<PeerKey> asked = question(g);
    REQUIRE(asked.contains(maker));
    answer(maker, g, sums);
    decline(g, asked, {maker});
    REQUIRE_FALSE(to_judge(g, sums).empty());
    judged(g, right, wrong);
  }
  // g is verified; the sums that this peer is to work out, each once.
  std::vector<Bytes> verify(std::uint32_t g, PeerKey sender = kOne) {
    for (std::uint32_t i = 0; i < kGenerationSize; ++i) send_first_hand(sender, g, i);
    decoded(g, core::DecodeOutcome::kVerified);
    std::vector<Bytes> keys;
    for (const core::MakeCheck& wanted : take<core::MakeCheck>()) {
      CHECK(wanted.peer == core::kNoPeer);
      CHECK(wanted.generation == g);
      CHECK(wanted.tag_bytes == facts::kSumBytes);
      keys.emplace_back(wanted.key.begin(), wanted.key.end());
    }
    return keys;
  }
  // They are worked out: true sums are those of kTrue.
  void review(std::uint32_t g, const std::vector<Bytes>& keys) {
    for (const Bytes& one : keys) {
      core.proof_made(core::kNoPeer,
                      proto::CheckReply{g, one, Bytes(kGenerationSize * facts::kSumBytes, kTrue)},
                      now);
    }
    drain();
    pass(kMillisecond);
  }
  // These have told true sums of g, so that their word counts.
  void make_truthful(std::initializer_list<PeerKey> makers, std::uint32_t g) {
    send(kLess, g, 0);
    const std::set<PeerKey> asked = question(g);
    for (const PeerKey maker : makers) answer(maker, g, kTrue);
    decline(g, asked, makers);
    to_judge(g);
    judged(g, {0}, {});
    review(g, verify(g));
  }

 private:
  // The others that were asked say that they make no sums.
  void decline(std::uint32_t g, const std::set<PeerKey>& asked,
               std::initializer_list<PeerKey> makers) {
    for (const PeerKey peer : asked)
      if (std::ranges::find(makers, peer) == makers.end()) answer(peer, {g, {}, {}});
  }
  void collect() {
    for (PeerKey peer = kOne; peer <= kIdle; ++peer) {
      for (proto::CheckRequest& request : heard<proto::CheckRequest>(peer)) {
        REQUIRE(request.generations.size() == 1);
        requests_[request.generations[0]].emplace_back(peer, std::move(request.key));
      }
    }
  }

  std::map<PeerKey, std::uint32_t> sequence_;
  std::map<std::uint32_t, std::vector<std::pair<PeerKey, Bytes>>> requests_;  // by generation
  std::map<std::uint32_t, Bytes> keys_;  // of the last question about each generation
};

}  // namespace firn::test
