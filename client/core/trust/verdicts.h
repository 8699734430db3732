// What trust reads, and what it wants done. Trust changes nothing outside its folder; receiving.h
// carries the verdicts out, one after the other.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "client/core/base/actions.h"
#include "client/core/base/context.h"
#include "client/core/mesh/neighbour_count.h"
#include "client/core/neighbour/neighbours.h"
#include "client/core/rows/holdings.h"

namespace firn::core::trust {

struct World {
  const Context& context;
  const Life& life;
  const Neighbours& neighbours;
  const NeighbourCount& mesh;  // how large it is
  const Holdings& holdings;
};

// The rows in these slots are true: for certain (kProven), or by the word of peers that may lie
// (kTrusted).
struct Mark {
  std::uint32_t generation = 0;
  std::vector<std::uint32_t> slots;
  Rows as = Rows::kProven;
};

// These rows are false, or of no use any more. `lost`: nobody can say which of the generation's
// rows are false, or they cannot be read; neighbours are told that it is lost. Then no slots stand
// for all its rows.
struct Drop {
  std::uint32_t generation = 0;
  std::vector<std::uint32_t> slots = {};
  bool lost = false;
};

// Rows of this peer, or of all, are not trusted any more. `proven_too`: those that counted as
// proven do so no more.
struct Doubt {
  std::optional<PeerId> sender;
  bool proven_too = false;
};

// The peer is guilty of this, and what else came from it falls; as Membership::punish.
struct Ban {
  PeerId peer;
  const char* kind = "";
  std::string detail;
};

// These peers were banned because of false check sums: their bans end.
struct Acquit {
  std::vector<PeerId> peers;
};

// How the neighbour is regarded from now on; as Neighbour::regard_as.
struct Regarded {
  PeerKey peer = kNoPeer;
  Regard regard = Regard::kNew;
  bool amid_polluters = false;
  bool speaks = false;  // for the content's authority
};

// All neighbours are to be told of this generation, or that this peer has other Terms.
struct Tell {
  std::optional<std::uint32_t> generation;
};

// This neighbour was told to send nothing of what is open, and is asked for it again.
struct Resume {
  PeerKey peer = kNoPeer;
};

using Verdict = std::variant<Mark, Drop, Doubt, Ban, Acquit, Regarded, Tell, Resume, Action>;

// Those that are still to be done, oldest first.
using Verdicts = std::deque<Verdict>;

}  // namespace firn::core::trust
