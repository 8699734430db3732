// A source whose neighbours tell it what came to them from one another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "client/core/parts.h"
#include "client/core/send/source/contributions.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

namespace firn::test {

// A source and its neighbours 1 to `peers`, each of which says what came to it from the others.
class Reported {
 public:
  static constexpr std::uint32_t kRows = 64;
  // More than anybody comes to hold here.
  static const Manifest& vouched() {
    static const Manifest manifest = vouched_manifest(400, kRows, 64);
    return manifest;
  }
  // The first `called` of them this peer has called itself; from `together` on all are at one
  // address.
  explicit Reported(std::uint8_t peers, std::uint8_t called = 0, std::uint8_t together = 255)
      : parts_(vouched().id, roomy(), kSecond), peers_(peers) {
    for (std::uint8_t i = 1; i <= peers; ++i) {
      const std::string ip = "192.0.2." + std::to_string(std::min(i, together));
      REQUIRE(parts_.membership.opened(i, peer_id(i), ip, 4000, i <= called ? i : 0, true));
    }
    parts_.start(vouched().info);
  }
  // A second in which each neighbour, or the first `given_to`, is given `at_once` blocks; whether a
  // sink was found. says(by, of): how many blocks of neighbour `of` reached neighbour `by` in it,
  // as that tells. The rank that it tells fits that, but for those from `liars` on.
  template <typename Says>
  bool review(const Says& says, int given_to = 255, std::uint8_t liars = 255) {
    for (std::uint8_t by = 1; by <= peers_; ++by) {
      core::Neighbour& n = neighbour(by);
      std::vector<proto::Received> received;
      std::uint32_t& rank = ranks_[by];
      for (std::uint8_t of = 1; of <= peers_; ++of) {
        sums_[{by, of}] += says(by, of);
        if (of == by) continue;
        received.push_back({peer_id(of).prefix(), sums_[{by, of}]});
        rank += by < liars ? says(by, of) : 0;
      }
      const std::uint32_t given = by >= given_from && by <= given_to ? at_once : 0;
      rank += given;
      tell(n, rank, std::move(received), convicted_[by]);
      for (std::uint32_t i = 0; i < given; ++i) {
        n.book_block(0, parts_.context.now);
        n.block_departed(100, parts_.context.now);
      }
    }
    parts_.context.now += facts::kNextReport;
    return parts_.transfer->contributions.review().value();
  }
  std::uint32_t at_once = 10;
  std::uint8_t given_from = 1;  // those before are given nothing
  core::Neighbour& neighbour(core::PeerKey key) { return *parts_.membership.find(key); }
  // One more neighbour; `barren` others of its network have passed nothing on.
  core::Neighbour& join(std::uint32_t barren = 0) {
    const std::uint8_t i = ++peers_;
    core::Neighbour& n =
        *parts_.membership.opened(i, peer_id(i), "192.0.2." + std::to_string(i), 4000, 0, true);
    n.holds.set_shape(vouched().info.shape);
    n.barren_before = barren;
    parts_.transfer->contributions.greeted(n);
    return n;
  }
  // These say with their next report that `guilty` sent them a false block.
  void convict(std::uint8_t guilty, std::uint8_t first, std::uint8_t last) {
    for (std::uint8_t by = first; by <= last; ++by)
      convicted_[by].push_back(peer_id(guilty).prefix());
  }
  // The last of them.
  void leave() { parts_.membership.closed(peers_--, ""); }

 private:
  // What it was given before has come.
  static void tell(core::Neighbour& n, std::uint32_t rank, std::vector<proto::Received> received,
                   std::vector<std::uint64_t> convicted) {
    proto::State state;
    state.acknowledged = static_cast<std::uint32_t>(n.pipe.blocks_sent());
    if (rank >= kRows) state.complete = {{0, rank / kRows}};
    if (rank % kRows > 0) {
      proto::GenerationState& begun = state.generations.emplace_back();
      begun.generation = rank / kRows;
      begun.rank = rank % kRows;
    }
    state.received = std::move(received);
    state.convicted = std::move(convicted);
    REQUIRE(n.apply_state(std::move(state)));
  }

  core::Parts parts_;
  std::uint8_t peers_;
  std::map<std::uint8_t, std::uint32_t> ranks_;
  std::map<std::uint8_t, std::vector<std::uint64_t>> convicted_;
  std::map<std::pair<std::uint8_t, std::uint8_t>, std::uint32_t> sums_;
};

// What each neighbour says of each other: ten blocks have come.
inline const auto kAllPassOn = [](int, int) { return 10u; };

}  // namespace firn::test
