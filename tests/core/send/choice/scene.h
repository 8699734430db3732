// Neighbours with a holder of some generations, for tests of which neighbour gets which
// block next.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

#include "client/core/send/choice/late_binding.h"
#include "client/core/send/choice/relay_policy.h"
#include "client/core/send/source/source_policy.h"
#include "codec/encode.h"
#include "tests/core/fixture.h"

namespace firn::test {

using core::Holdings;
using core::Neighbour;
using core::Neighbours;
using core::policy::Choice;

inline constexpr std::uint32_t kBlockBytes = 100;
inline constexpr std::uint32_t kBusy = 3;  // sockets that may have blocks waiting

inline Shape shape_of(std::uint32_t generations, std::uint32_t n) {
  return Shape{n, kBlockBytes, std::uint64_t{generations} * n * kBlockBytes};
}

struct Scene {
  // `credit`: blocks that each neighbour may be sent, as it says at the beginning.
  Scene(std::uint32_t generations, std::uint32_t n, std::uint32_t peers, bool complete,
        std::uint32_t credit = 100'000)
      : holdings(shape_of(generations, n)) {
    for (std::uint32_t g = 0; complete && g < generations; ++g) holdings.set_verified(g);
    for (std::uint32_t i = 1; i <= peers; ++i) {
      auto one = std::make_unique<Neighbour>(i, peer_id(static_cast<std::uint8_t>(i)), "192.0.2.1",
                                             std::uint16_t{1}, false, 0);
      one->holds.set_shape(holdings.shape());
      neighbours.add(std::move(one));
      tell(i, {}, {}, 0, credit);
    }
  }
  void tell(core::PeerKey peer, std::vector<proto::GenerationState> entries,
            std::vector<proto::Span> complete = {}, std::uint32_t acknowledged = 0,
            std::uint32_t credit = 100'000) {
    proto::State state;
    state.acknowledged = acknowledged;
    state.credit = credit;
    state.generations = std::move(entries);
    state.complete = std::move(complete);
    REQUIRE(neighbours.at(peer).apply_state(std::move(state)));
  }
  void hold(std::uint32_t g, std::uint32_t rank, bool first_hand, TimeUs at = 0) {
    for (std::uint32_t i = 0; i < rank; ++i) {
      const auto v = codec::unit_vector(holdings.generation_size(), i);
      REQUIRE(holdings.insert(g, std::make_shared<const std::vector<std::uint8_t>>(v),
                              {peer_id(9), first_hand}, at));
    }
  }
  // Sends what was chosen, to a socket that takes it at once.
  void send(const Choice& choice) {
    peer(choice.peer).book_block(choice.generation, now);
    peer(choice.peer).block_departed(kBlockBytes, now);
    now += 1000;
  }
  core::policy::Sockets sockets() const {
    std::uint32_t busy = 0;
    for (const Neighbour& n : neighbours) busy += n.pipe.queued() > 0 ? 1 : 0;
    return {busy, kBusy};
  }
  std::optional<Choice> choose(core::policy::RelayPolicy& relay, bool small_mesh) {
    return relay.choose(holdings, neighbours, {small_mesh, core::kNever}, sockets(), now);
  }
  // Neighbours that came at `trial_from` or later are on trial.
  std::optional<Choice> choose_warily(core::policy::RelayPolicy& relay, TimeUs trial_from = 0) {
    return relay.choose(holdings, neighbours, {false, trial_from}, sockets(), now);
  }
  std::optional<Choice> choose(core::policy::SourcePolicy& source, bool small_mesh) {
    for (const Neighbour& n : std::as_const(neighbours)) source.told(n);
    return source.choose(holdings, neighbours, small_mesh, sockets(), now);
  }
  Neighbour& peer(core::PeerKey key) { return neighbours.at(key); }

  TimeUs now = 100 * kSecond;  // what was held from the beginning stands still
  Holdings holdings;
  Neighbours neighbours;
};

}  // namespace firn::test
