// A source's first pass over its content (super-seeding): of each generation as many blocks as it
// has source blocks, each to one neighbour, from which the others get it.
//
// A block that went to a neighbour which passes nothing on (Neighbour::sink) is lost to all others.
// It is taken back then: the pass is not over until another neighbour has been given one in its
// place.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/core/base/types.h"
#include "client/core/neighbour/neighbours.h"
#include "proto/content/shape.h"

namespace firn::core::policy {

// A source remembers what it gave of its last kGivenKept generations: to each neighbour here, block
// by block in plain_pass.h. Costs memory.
inline constexpr std::size_t kGivenKept = 64;

class FirstPass {
 public:
  explicit FirstPass(const Shape& shape)
      : shape_(shape), served_(shape.generation_count(), 0), left_out_(shape.generation_count()) {}

  void served(PeerKey peer, std::uint32_t g);
  // The peer has left; what it was given stays given.
  void forget(PeerKey peer) { given_.erase(peer); }
  // Generations at its cursor that no neighbour wants are left out, until one does.
  void leave_out_unwanted(const Neighbours& neighbours);
  // Its State has been taken over.
  void told(const Neighbour& n);
  // What sinks were given lately, but of generations that some other neighbour has in whole.
  void take_back(const Neighbours& neighbours);

  // Blocks of g.
  std::uint32_t blocks(std::uint32_t g) const { return served_[g]; }
  bool whole(std::uint32_t g) const { return served_[g] >= shape_.blocks_in(g); }
  // The lowest generation that was not served in whole; their number if there is none.
  std::uint32_t cursor() const { return cursor_; }
  // Those below were once. What was taken back is served again, but the pass has gone on.
  std::uint32_t passed() const { return passed_; }
  bool over() const { return passed_ == served_.size(); }

 private:
  void go_on();
  // By some neighbour.
  bool wanted(std::uint32_t g, const Neighbours& neighbours);
  using Given = std::deque<std::pair<std::uint32_t, std::uint32_t>>;  // generation, blocks
  Shape shape_;
  std::vector<std::uint32_t> served_;
  GenerationSet left_out_;
  PeerKey witness_ = kNoPeer;  // it wanted the generation at the cursor
  std::uint32_t cursor_ = 0, passed_ = 0;
  std::unordered_map<PeerKey, Given> given_;  // of each the latest kGivenKept generations
};

}  // namespace firn::core::policy
