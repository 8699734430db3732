// What the simulation's test cases share.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "tests/sim/network.h"

namespace firn::sim {

using core::kSecond;

inline constexpr double kMbit = 1e6 / 8;

// T >= max(F / u_s, N F / (u_s + sum u_i)): no schedule is faster.
inline double fluid_bound(const Content& content, double source_up, std::size_t peers,
                          double peer_up) {
  const Shape& shape = content.manifest.info.shape;
  const double bytes = static_cast<double>(shape.block_count()) * content.charged_block_bytes;
  const double n = static_cast<double>(peers);
  return std::max(bytes / source_up, n * bytes / (source_up + n * peer_up));
}

// No honest peer has kept a false byte or broken a rule.
inline void check_honest(Network& network) {
  for (std::size_t i = 0; i < network.size(); ++i) {
    Peer& peer = network.peer(i);
    if (peer.spec().hostile()) continue;
    for (const auto& [g, bytes] : peer.disk.verified) {
      const auto truth = network.content().generation(g);
      if (!std::equal(bytes.begin(), bytes.end(), truth.begin(), truth.end())) {
        FAIL_CHECK("peer " << i << " keeps a false generation " << g);
      }
    }
  }
  for (const auto& [rule, where] : network.violations()) {
    FAIL_CHECK("broken by " << where << ": " << rule);
  }
}

// Whether a warning of `peer` has both texts in it.
inline bool warned(Peer& peer, const std::string& a, const std::string& b = "") {
  return std::any_of(peer.warnings.begin(), peer.warnings.end(), [&](const std::string& text) {
    return text.find(a) != std::string::npos && text.find(b) != std::string::npos;
  });
}

// No honest peer has been banned by another, under any name that it had, nor blamed for a false
// block. Where an authority tells false sums nobody can know better until it is found out.
inline void check_blame(Network& network) {
  for (std::size_t i = 0; i < network.size(); ++i)
    if (network.peer(i).spec().false_sums) return;
  for (std::size_t i = 0; i < network.size(); ++i) {
    for (std::size_t j = 0; j < network.size(); ++j) {
      if (network.peer(i).spec().hostile() || network.peer(j).spec().hostile()) continue;
      for (const PeerId& id : network.peer(j).ids) {
        if (warned(network.peer(i), id.text(), "banned for") ||
            warned(network.peer(i), id.text(), "false block")) {
          FAIL_CHECK("peer " << i << " blames peer " << j);
        }
      }
    }
  }
}

// Runs until every honest peer that has not crashed is complete, `seconds` at most.
inline void run_to_completion(Network& network, TimeUs seconds = 600) {
  const bool done = network.events().run(network.events().now() + seconds * kSecond,
                                         [&] { return network.all_complete(); });
  check_honest(network);
  check_blame(network);
  if (!done) {
    for (std::size_t i = 0; i < network.size(); ++i) {
      Peer& peer = network.peer(i);
      if (!peer.alive()) continue;
      const core::Report r = peer.report();
      std::string met;
      for (const core::NeighbourReport& n : r.neighbours) {
        for (std::size_t j = 0; j < network.size(); ++j) {
          if (network.peer(j).id() != n.id) continue;
          met += ", " + std::to_string(j) + " (rank " + std::to_string(n.rank) + ", received " +
                 std::to_string(n.blocks_received) + ", sent " + std::to_string(n.blocks_sent) +
                 ")";
        }
      }
      MESSAGE("peer " << i << ": rank " << r.rank << " of " << r.rank_total << ", " << r.peers
                      << " neighbours, met" << met);
    }
  }
  CHECK(done);
}

struct Totals {
  double last_seconds = 0;
  std::uint64_t innovative = 0, redundant = 0;
  double redundant_share() const {
    return static_cast<double>(redundant) / static_cast<double>(innovative + redundant + 1);
  }
};

inline Totals totals(Network& network) {
  Totals t;
  for (std::size_t i = 0; i < network.size(); ++i) {
    Peer& peer = network.peer(i);
    t.last_seconds = std::max(t.last_seconds, static_cast<double>(peer.completed_at) * 1e-6);
    if (!peer.alive()) continue;
    t.innovative += peer.report().blocks_innovative;
    t.redundant += peer.report().blocks_redundant;
  }
  return t;
}

// Peers by which some other is taken for a liar at the end, without being one.
inline std::size_t wrongly_banned(Network& network) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < network.size(); ++i) {
    if (network.peer(i).spec().hostile()) continue;
    for (const core::Ban& ban : network.peer(i).core().view().bans) {
      for (std::size_t j = 0; j < network.size(); ++j) {
        found += ban.id == network.peer(j).id() && !network.peer(j).spec().hostile();
      }
    }
  }
  return found;
}

}  // namespace firn::sim
