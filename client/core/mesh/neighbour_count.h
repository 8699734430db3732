// Decides how many neighbours this peer wants, by the size of the swarm, and how many of them it
// calls itself.
//
// A peer starves if it needs something and nothing useful has come for kStarvingTime. A few silent
// identities must not cut it off from the others, so it then calls more addresses that it has not
// tried yet, and drops neighbours that do nothing. It stops when all addresses have been tried:
// peers that wait together for a source do not change neighbours forever.
#pragma once

#include <algorithm>
#include <cstddef>

#include "client/core/base/context.h"
#include "client/core/mesh/peer_book.h"
#include "client/core/mesh/trackers.h"
#include "client/core/neighbour/neighbours.h"

namespace firn::core {

// Up to here every peer can know every other, and the first-hand rule holds. Half: 12 polluters
// of 40 peers cost 27 % more; double: 40 honest peers end 5 % later [096].
inline constexpr std::uint32_t kSmallMesh = 24;
// Large meshes: each peer calls half of those wanted, so that with the calls of others the graph is
// a random one of about this degree, and fills up later where few calls came. Half: +3 % [096].
inline constexpr std::uint32_t kNeighboursWanted = 12;
// Accepts up to here. A tight limit shuts late comers out: they gather among themselves, and the
// first, all neighbours of the source, stand half idle [016]. Half: +12 % at 40 peers [096].
inline constexpr std::uint32_t kNeighboursMax = 40;
// A peer chooses and calls one in this many of its wanted neighbours itself, however many peers
// call it: one attacker may own all of those. More: fewer calls of its own; less: slower meshes.
inline constexpr std::size_t kOwnCallsShare = 4;
inline constexpr TimeUs kOwnCallTime = 2 * kSecond;  // from one such call to the next
// So long the calls of others are waited for. Less: all call the first peers.
inline constexpr TimeUs kMeshTime = 3 * kSecond;
// Less: a slow start; double: +2 % in one cell [096].
inline constexpr std::uint32_t kCallsAtOnce = 8;

// The highest of the values that were seen in the last minute or two.
class RecentMost {
 public:
  static constexpr TimeUs kWindow = 60 * kSecond;

  void see(std::size_t value, TimeUs now) {
    if (now >= begin_ + kWindow) {
      before_ = now < begin_ + 2 * kWindow ? most_ : 0;
      most_ = 0;
      begin_ = now;
    }
    most_ = std::max(most_, value);
  }
  // 0: none was.
  std::size_t get(TimeUs now) const {
    if (now >= begin_ + 2 * kWindow) return 0;
    return now >= begin_ + kWindow ? most_ : std::max(most_, before_);
  }

 private:
  TimeUs begin_ = 0;  // of the present window
  std::size_t most_ = 0, before_ = 0;
};

// What decides how many neighbours a peer wants.
struct MeshView {
  std::size_t neighbours = 0;  // connected
  std::size_t told = 0;        // peers of the swarm, as the trackers say, this one among them
  std::size_t met = 0;         // neighbours at a time, in the last minute or two
};

// Neighbours accepted at most.
std::size_t places(const Options& options);
// Whether the swarm is so small that each peer can know all others: the rules for full meshes hold.
bool small_mesh(const MeshView& view, const Options& options);
// Neighbours up to which this peer calls others.
std::size_t neighbours_wanted(const MeshView& view, const Options& options);

class NeighbourCount {
 public:
  NeighbourCount(const Context& context, const Life& life, const Trackers& trackers,
                 const PeerBook& book, const Neighbours& neighbours)
      : context_(context), life_(life), trackers_(trackers), book_(book), neighbours_(neighbours) {}

  // Looks whether this peer starves, where a look is due. True: it does, and calls more addresses.
  bool review();
  // Nothing useful has come for a while.
  bool starves() const { return context_.now >= starves_at(); }
  // An address is being called.
  void called() {
    if (called_enough()) own_call_at_ = context_.now + kOwnCallTime;
  }
  // When review() has something to do, or wants_to_call() may become true, though nothing else
  // happens; kNever: then neither may be.
  TimeUs next_due() const;
  // Their number has changed, or is about to.
  void note() { met_.see(neighbours_.size(), context_.now); }

  // Peers in the swarm, as far as this one knows, it among them.
  std::size_t swarm_size() const;
  bool small_mesh() const { return core::small_mesh(mesh(), context_.options); }
  // Whether this peer has as many as it wants.
  bool crowded() const;
  // Whether all that it wants are connected or being called: more of them where it starves.
  bool called_enough() const;
  // Whether to call an address that is due.
  bool wants_to_call() const;
  // Up to this number of neighbours a newcomer is accepted. Places are kept for peers that this one
  // has still to call itself, as long as it knows addresses. If all places are taken, one of these
  // may come all the same: after its Hello a caller is dropped for it.
  std::size_t places_for(bool called) const;
  bool too_many() const { return neighbours_.size() > places(context_.options); }
  // Whether it has called no more than it is to.
  bool spares_called() const { return neighbours_.called().size() <= own_calls(); }

 private:
  MeshView mesh() const;
  std::size_t wanted() const;
  std::size_t own_calls() const;
  std::size_t own_calls_missing() const;
  TimeUs starves_at() const;

  const Context& context_;
  const Life& life_;
  const Trackers& trackers_;
  const PeerBook& book_;
  const Neighbours& neighbours_;
  RecentMost met_;           // neighbours at a time
  TimeUs own_call_at_ = 0;   // not before this one beyond those that are wanted
  bool calls_more_ = false;  // it starves, as of the last look
  TimeUs look_at_ = 0;
};

}  // namespace firn::core
