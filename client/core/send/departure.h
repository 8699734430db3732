// When a source may leave: once its neighbours hold all of the content between them, as far as the
// source can prove it. Of each generation that a neighbour has wanted since it began (all, if none
// has wanted any) it needs one of these:
//   - a neighbour that is connected says that it has verified it;
//   - rows that this source sent, and that neighbours which are still connected acknowledged, have
//     full rank together. What a neighbour received stays in its span, whatever it recodes.
// It is proof of what they hold then, not that they will stay. A neighbour that goes takes its part
// of the proof with it; one whose reported rank is below the rows counted for it (it threw some
// away) proves nothing of that generation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "client/core/base/types.h"
#include "client/core/neighbour/neighbours.h"
#include "proto/content/shape.h"

namespace firn::core {

class Departure {
 public:
  explicit Departure(const Shape& shape)
      : shape_(shape),
        rows_(shape.generation_count()),
        wanted_(shape.generation_count()),
        proven_(shape.generation_count()) {}

  // A block was booked for `peer` under this number: a source block as it is, or its coefficients.
  void sent(PeerKey peer, std::uint32_t sequence, std::uint32_t generation,
            std::optional<std::uint32_t> source_index, std::vector<std::uint8_t> coefficients);
  // It could not be made.
  void failed(PeerKey peer, std::uint32_t sequence);
  // Everything up to this number has arrived there.
  void acknowledged(PeerKey peer, std::uint32_t sequence);
  void gone(PeerKey peer);

  // Whether all that has been wanted is proven, and a neighbour is connected.
  bool safe(const Neighbours& neighbours);

 private:
  struct SentRow {
    PeerKey peer = kNoPeer;
    std::uint32_t generation = 0;
    std::optional<std::uint32_t> source_index;
    std::vector<std::uint8_t> coefficients;  // of coded blocks
  };
  bool proven(std::uint32_t g, const Neighbours& neighbours) const;

  Shape shape_;
  std::map<PeerKey, std::map<std::uint32_t, SentRow>> on_the_way_;  // by sequence
  std::vector<std::vector<SentRow>> rows_;                          // arrived, by generation
  GenerationSet wanted_;  // by some neighbour, at some time
  GenerationSet proven_;  // of those connected
};

}  // namespace firn::core
