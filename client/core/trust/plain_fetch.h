// Fetches generations plainly (block by block): as source blocks, each of which is checked by its
// leaf.
//
// A generation's digest is a Merkle root over its source blocks. Any neighbour that has verified
// the generation can hand out the leaves; the receiver compares their root with the digest, so that
// it need not trust anybody. With the leaves each source block is true or false at once, and a
// false one convicts its sender: peers send as source blocks only what they know to be true.
//
// That costs what coding saves (two senders may send the same block), so it is for generations in
// trouble: they decoded to false data, and no authority can say which rows are false; and in a
// large mesh for all that are fetched for a while after a false row (plain_mode.h). Where no source
// block comes for kPlainPatience (those that had them have left), coded ones are taken again, until
// they decode to false data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "client/core/neighbour/block_bits.h"
#include "client/core/trust/plain_mode.h"
#include "client/core/trust/plain_shares.h"
#include "client/core/trust/regime.h"
#include "client/core/trust/verdicts.h"
#include "codec/random.h"
#include "proto/base/ids.h"
#include "proto/messages.h"

namespace firn::core::trust {

inline constexpr std::size_t kPlainMax = 16;       // generations that are fetched plainly at a time
inline constexpr TimeUs kPlainWait = 3 * kSecond;  // for leaves; then coded blocks are taken
inline constexpr TimeUs kLeavesTimeout = 2 * kSecond;   // then another neighbour is asked
inline constexpr TimeUs kPlainPatience = 20 * kSecond;  // without a block, then it takes any

class PlainFetch {
 public:
  // `digests`: of the generations, as in the manifest.
  PlainFetch(const World& world, Verdicts& verdicts, const Regime& regime,
             std::vector<Digest> digests);

  // A generation has decoded to false data, or a neighbour has sent a false block.
  void met_false() { mode_.met_false(); }
  // All generations are fetched plainly, or were when g began: neighbours that do so too tell what
  // they hold.
  bool shared(std::uint32_t g) const;
  // They are, but the leaves of g are still to come: no blocks of it are taken.
  bool waits(std::uint32_t g) const;
  // A neighbour is told so. True: it is the first, and all others are to be told as well.
  bool told_to_wait(std::uint32_t g);
  // waits(g), and a sender may not know yet: its block is not held against it.
  bool just_waits(std::uint32_t g) const;

  // Generation g is in trouble: its leaves are wanted, if they are not there.
  void begin(std::uint32_t g);
  // An answer has come: it is of no use now (late, or the neighbour has none), or fits, so that g
  // is fetched plainly from now on, or is false.
  enum class Reply { kUseless, kFits, kFalse };
  Reply replied(const Neighbour& n, proto::LeafReply&& reply);

  // A source block has come as it is while the leaves of its generation were not there.
  void came(std::uint32_t g, std::uint32_t slot, const PeerId& from, const proto::Payload& payload);
  // Rows of g are not there any more. Null: none is.
  void rows_gone(std::uint32_t g, const std::vector<std::uint32_t>* slots);
  // Now the leaves are there: of the rows of g that came so the slots of those that fit them and
  // are not proven yet, and of those that do not fit, whoever has vouched for them.
  struct Sorted {
    std::vector<std::uint32_t> right, wrong;  // in order
    bool contains(std::uint32_t slot) const {
      return std::ranges::binary_search(right, slot) || std::ranges::binary_search(wrong, slot);
    }
  };
  Sorted sort(std::uint32_t g) const;

  // Generation g is fetched plainly: source blocks alone are taken.
  bool on(std::uint32_t g) const;
  // The leaves of g are there, though coded blocks may be taken.
  bool knows(std::uint32_t g) const;
  // Of such a generation: whether source block i has this payload.
  bool right(std::uint32_t g, std::uint32_t i, const proto::Payload& payload) const;
  // Of such a generation: what the neighbour is asked for (GenerationState::wanted_blocks).
  BlockBits wanted_from(const Neighbour& n, std::uint32_t g);
  // The source blocks of g that this peer can pass on (GenerationState::held_blocks).
  BlockBits held(std::uint32_t g) const;
  // Empty where they are not held.
  std::vector<Digest> leaves_of(std::uint32_t g) const;

  // g is verified, or not wanted any more.
  void forget(std::uint32_t g) {
    plain_.erase(g);
    came_.erase(g);
    told_to_wait_.erase(g);
    shares_.forget(g);
  }
  void neighbour_left(const Neighbour& n);

  // Asks for leaves, and other holders for blocks that do not come.
  void step();
  TimeUs next_due() const;

 private:
  struct PlainGeneration {
    std::vector<Digest> leaves;  // empty: still to come
    PeerKey asked = kNoPeer;     // an answer may come from it
    std::set<PeerKey> without;   // have none, or did not answer
    TimeUs due = 0;              // when another is asked
    std::uint32_t turn = 0;      // how often blocks have been asked from other holders
    TimeUs turned_at = 0;
    TimeUs waits_since = 0;  // fetched plainly since then
    bool resting = false;    // coded blocks are taken
    bool ahead = false;      // not in trouble itself
  };
  struct Came {
    PeerId from;
    Digest leaf;
  };
  std::vector<const Neighbour*> best_to_ask(std::uint32_t g, const PlainGeneration& c);
  bool has_room() const;
  bool asks_enough() const;
  void look_ahead();
  void end_mode();
  void call_waiting();
  void give_up_waiting(std::uint32_t g, PlainGeneration& c);
  bool shares(const Neighbour& n, std::uint32_t g) const;
  std::vector<std::uint32_t> missing(std::uint32_t g) const;  // source blocks
  void ask(std::uint32_t g, PlainGeneration& c);
  TimeUs turn_due(std::uint32_t g, const PlainGeneration& c) const;
  void turn(std::uint32_t g, PlainGeneration& c);

  const World& world_;
  Verdicts& verdicts_;
  const Regime& regime_;
  PlainMode mode_;
  const std::vector<Digest> digests_;
  std::map<std::uint32_t, PlainGeneration> plain_;
  std::map<std::uint32_t, std::map<std::uint32_t, Came>> came_;  // by generation and slot
  PlainShares shares_;
  std::map<std::uint32_t, TimeUs> told_to_wait_;  // generations, and when it was told first
  std::set<PeerKey> silent_;                      // had none when asked for leaves last
  TimeUs came_at_ = 0;  // the last block of any of them, as far as is known
  codec::CoefficientStream random_;
};

}  // namespace firn::core::trust
