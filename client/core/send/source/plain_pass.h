// The first pass of a source over generations that some neighbours fetch plainly, block by block
// (plain_mode.h): each block is sent once, and once more if it went to a neighbour that passes it
// on to nobody. Only in large meshes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "client/core/base/types.h"
#include "client/core/neighbour/neighbours.h"
#include "client/core/send/source/first_pass.h"
#include "proto/content/shape.h"

namespace firn::core::policy {

// A source takes a block for lost if fewer than kPlainSpread of its neighbours say they hold it,
// its receiver aside, after kPlainLost, or after the time in which a usual relay sends
// kPlainLostBlocks blocks, if that is longer [079]. Half -3 %, double +3 % at 40 peers [096].
inline constexpr TimeUs kPlainLost = 3 * kSecond;
// A source looks for lost blocks of one generation so often, kPlainReviewEach later for each
// neighbour that it has, and hears kPlainTellers of them at most: what one neighbour says must not
// cost a source of thousands its time.
inline constexpr TimeUs kPlainReview = 20 * kMillisecond;

class PlainPass {
 public:
  explicit PlainPass(const Shape& shape) : shape_(shape) {}

  // Source block i of g goes to this neighbour as it is. True: it never had before.
  bool sent(std::uint32_t g, std::uint32_t i, PeerKey to, TimeUs now);
  // A neighbour tells what it holds.
  void told(const Neighbour& n) { some_tell_ |= n.holds.held_blocks().any(); }
  // While some do, one generation now and then: looks for blocks that nobody has but those which
  // they were sent to. `usual_uplink`: of relays, KiB a second; 0: nobody has said.
  void review(const Neighbours& neighbours, double usual_uplink, TimeUs now);
  // The lowest generation in which the neighbour asks for a block that is lost, or was never sent
  // although the pass has gone on: coded ones went in its place.
  std::optional<std::uint32_t> lost(const Neighbour& n, const FirstPass& pass) const;
  // The first block of g that the neighbour asks for and that was never sent, or is lost.
  std::optional<std::uint32_t> due(const Neighbour& n, std::uint32_t g) const;
  // In small meshes nothing is repeated so.
  void clear() { sent_.clear(); }

 private:
  struct Sent {
    PeerKey to = kNoPeer;  // the last time; kNoPeer: it was not
    TimeUs at = 0;
    bool lost = false;
    bool open() const { return lost || to == kNoPeer; }
  };
  struct Generation {
    std::vector<Sent> blocks;
    std::uint32_t lost = 0, never = 0;  // blocks
  };
  void review_one(std::uint32_t g, Generation& sent, const Neighbours& neighbours, TimeUs patience,
                  TimeUs now);

  Shape shape_;
  std::map<std::uint32_t, Generation> sent_;  // of the last kGivenKept generations
  std::uint32_t reviewed_ = 0;                // the generation that was looked at last
  TimeUs review_due_ = 0;
  bool some_tell_ = false;
};

}  // namespace firn::core::policy
