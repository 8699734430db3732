// A receiver's holdings and its neighbours, for the tests of what it grants.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "client/core/neighbour/neighbours.h"
#include "client/core/receive/leases.h"
#include "client/core/rows/generations.h"
#include "codec/encode.h"
#include "tests/core/receive/promised.h"

namespace firn::test {

using core::Holdings;
using core::Neighbour;
using core::Neighbours;

inline constexpr TimeUs kNow = 100 * kSecond;

struct Situation {
  explicit Situation(std::uint32_t count, std::uint32_t n, std::uint32_t peers)
      : generations(Shape{n, 100, std::uint64_t{count} * n * 100}, 1 << 20) {
    for (std::uint32_t i = 1; i <= peers; ++i) {
      auto one = std::make_unique<Neighbour>(
          i, peers < 256 ? peer_id(static_cast<std::uint8_t>(i)) : numbered(i), "192.0.2.1",
          std::uint16_t{1}, false, 0);
      one->holds.set_shape(holdings.shape());
      neighbours.add(std::move(one));
    }
  }
  // The neighbour says that it holds so much of g.
  void claim(core::PeerKey peer, std::uint32_t g, std::uint32_t rank) {
    proto::State state;
    state.generations = {{g, rank, 4, {}}};
    REQUIRE(neighbours.at(peer).apply_state(std::move(state)));
  }
  void hold(std::uint32_t g, std::uint32_t rank, TimeUs grown) {
    for (std::uint32_t i = 0; i < rank; ++i) {
      const auto v = codec::unit_vector(holdings.generation_size(), i);
      REQUIRE(generations.insert(g, std::make_shared<const std::vector<std::uint8_t>>(v),
                                 {peer_id(9)}, grown));
    }
  }
  core::Generations generations;
  const Holdings& holdings = generations.holdings();
  Neighbours neighbours;
};

inline std::uint32_t quota_of(const Holdings& holdings, const Neighbours& neighbours,
                              const Neighbour& one, std::uint32_t g, std::uint32_t rotation,
                              TimeUs now) {
  core::policy::Holders holders;
  return core::policy::quota_of(holdings, neighbours, one, g, {rotation}, holders, now);
}

}  // namespace firn::test
