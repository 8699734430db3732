// The sender's side: which neighbour gets a block of which generation next. Called only when some
// socket can take a block, so the choice is as late as it can be.
//
// SourcePolicy (a peer that had everything from the start): in sequence. One open generation, the
// lowest of which fewer than n blocks have been served, each source block once; to the neighbour
// served least of late. Before that come rows that have got lost (gaps.h), after the first pass the
// generation the neighbour lacks that was served least.
//
// RelayPolicy (everybody else): the neighbour of low rank that was not chosen for long, then the
// lowest generation (in small meshes) or that of largest rank gap (in large ones) in which we
// surely have news for it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "client/core/gaps.h"
#include "client/core/holdings.h"
#include "client/core/leases.h"
#include "client/core/neighbour.h"
#include "codec/random.h"

namespace firn::core {

struct Choice {
  Neighbour* neighbour = nullptr;
  std::uint32_t generation = 0;
  std::optional<std::uint32_t> source_index;  // send this source block as it is
  bool use_null_vector = false;               // draw until v.z != 0
};

// Connections with blocks that wait in their sockets. Who reads nothing holds up nobody else.
std::uint32_t busy_connections(const Neighbours& neighbours, TimeUs now);

// Whether the neighbour's socket can take another block (pipeline depth), where so many connections
// are busy.
bool can_take_block(const Neighbour& neighbour, std::uint32_t busy, std::uint32_t busy_max);

// How many connections may be busy at a time, for an uplink that was seen to carry so much (0: not
// known). A block that waits in a socket was chosen too early; where none waits, the uplink may
// stand idle.
std::uint32_t busy_connections_max(double blocks_per_second, bool small_mesh);

// How long a block may wait in a socket before it counts as waiting for something else than such an
// uplink, of which `busy_max` connections have one each.
TimeUs uplink_patience(double blocks_per_second, std::uint32_t busy_max);

class SourcePolicy {
 public:
  SourcePolicy(const Shape& shape, bool dense);

  std::optional<Choice> choose(const Holdings& holdings, Neighbours& neighbours,
                               std::uint32_t busy_max, TimeUs now);
  // The choice has been sent.
  void served(const Choice& choice, TimeUs now);
  // A neighbour has left that did not have everything.
  void neighbour_lost() { gaps_.neighbour_lost(cursor_); }

 private:
  std::optional<std::uint32_t> choose_generation(const Holdings& holdings,
                                                 const Neighbour& neighbour) const;
  bool fresh_everywhere(std::uint32_t g, const Neighbours& neighbours) const;

  Shape shape_;
  bool dense_;
  std::vector<std::uint32_t> served_;      // blocks of each generation
  std::vector<std::uint32_t> next_plain_;  // next systematic block; blocks_in(g): no more
  std::uint32_t cursor_ = 0;               // lowest generation not served in whole
  Gaps gaps_;
};

class RelayPolicy {
 public:
  explicit RelayPolicy(std::uint64_t seed) : random_(seed, 0x72656c6179) {}

  // `small_mesh`: the swarm is so small that everybody knows everybody.
  std::optional<Choice> choose(const Holdings& holdings, Neighbours& neighbours, bool small_mesh,
                               std::uint32_t busy_max, TimeUs now);

 private:
  struct Candidate {
    std::uint32_t generation = 0;
    double score = 0;  // 0: nothing; below 1: only a guess
    bool use_null_vector = false;
  };
  Candidate best_generation(const Holdings& holdings, Neighbour& neighbour, bool small_mesh,
                            TimeUs now);
  Candidate best_from(std::uint32_t& g, const Holdings& holdings, Neighbour& neighbour,
                      bool small_mesh, TimeUs now);
  Candidate judge(const Holdings& holdings, Neighbour& neighbour, std::uint32_t g, bool small_mesh,
                  TimeUs now) const;

  codec::CoefficientStream random_;
  std::uint64_t choices_ = 0;
  std::vector<std::pair<std::uint64_t, Neighbour*>> eligible_;  // scratch of choose()
};

}  // namespace firn::core
