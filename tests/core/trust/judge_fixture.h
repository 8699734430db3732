// A peer whose rows are judged by the sums of an authority that is its neighbour.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "proto/base/limits.h"
#include "tests/core/fixture.h"

namespace firn::test {

inline constexpr PeerKey kSpeaker = 1, kFirst = 2, kSecondPeer = 3;
inline constexpr std::uint32_t kRowsEach = 4;
using Slots = std::vector<std::uint32_t>;
using Bytes = std::vector<std::uint8_t>;

// A speaker for the authority and two peers that hold everything are its neighbours.
class JudgeFixture : public Fixture {
 public:
  JudgeFixture() : Fixture(vouched_manifest(4, kRowsEach, 8192)) {
    start();
    join_certified(kSpeaker, peer_id(1), peer_id(1));
    join(kFirst, peer_id(2), 0, true);
    join(kSecondPeer, peer_id(3), 0, true);
  }
  void send(PeerKey peer, std::uint32_t g, std::uint32_t index) {
    pass(300 * kMillisecond);
    say(peer, block(g, ++sequence_[peer], index));
    pass(kMillisecond);
  }
  // The generations that the speaker was asked for.
  Slots asked() {
    Slots all;
    for (const auto& request : heard<proto::CheckRequest>(kSpeaker)) {
      all.insert(all.end(), request.generations.begin(), request.generations.end());
    }
    return all;
  }
  void answer(std::uint32_t g, bool with_key = true, std::size_t tag_bytes = 4) {
    say(kSpeaker, proto::CheckReply{g, Bytes(with_key ? limits::kCheckKeyBytes : 0, 5),
                                    Bytes(kRowsEach * tag_bytes, 6)});
  }
  // The slots of g that are to be judged; nothing else may be.
  Slots to_judge(std::uint32_t g) {
    Slots all;
    for (const core::JudgeRows& action : take<core::JudgeRows>()) {
      CHECK(action.generation == g);
      CHECK(std::ranges::equal(action.key, Bytes(limits::kCheckKeyBytes, 5)));
      CHECK(action.vectors.size() == action.slots.size());
      all.insert(all.end(), action.slots.begin(), action.slots.end());
    }
    return all;
  }
  void judged(std::uint32_t g, const Slots& right, const Slots& wrong, bool readable = true) {
    core.rows_judged(g, right, wrong, readable, now);
    drain();
  }
  void decoded(std::uint32_t g, core::DecodeOutcome outcome) {
    core.generation_decoded(g, outcome, now);
    drain();
  }
  // Whether a peer with this id is turned away for a ban.
  bool banned(PeerKey key, const PeerId& id) {
    connect(key, id);
    bool found = false;
    for (const proto::Goodbye& goodbye : heard<proto::Goodbye>(key)) {
      found |= goodbye.reason == proto::GoodbyeReason::kBanned;
    }
    return found;
  }

 private:
  std::map<PeerKey, std::uint32_t> sequence_;
};

}  // namespace firn::test
