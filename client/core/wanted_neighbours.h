// How many neighbours this peer wants, as the swarm is, and how many of them it is to call itself.
#pragma once

#include <cstddef>

#include "client/core/context.h"
#include "client/core/hunger.h"
#include "client/core/life.h"
#include "client/core/neighbours.h"
#include "client/core/peer_book.h"
#include "client/core/policy/constants.h"
#include "client/core/policy/mesh.h"
#include "client/core/recent_most.h"
#include "client/core/trackers.h"

namespace firn::core {

class WantedNeighbours {
 public:
  WantedNeighbours(const Context& context, const Life& life, const Trackers& trackers,
                   const PeerBook& book, const Hunger& hunger, const Neighbours& neighbours)
      : context_(context),
        life_(life),
        trackers_(trackers),
        book_(book),
        hunger_(hunger),
        neighbours_(neighbours) {}

  // An address is being called.
  void called() {
    if (called_enough()) own_call_at_ = context_.now + policy::kOwnCallTime;
  }
  // When wants_to_dial() may become true though nothing else happens; kNever: then it may not.
  TimeUs next_due() const { return context_.now < own_call_at_ ? own_call_at_ : kNever; }
  // Their number has changed, or is about to.
  void note() { met_.see(neighbours_.size(), context_.now); }

  // Peers in the swarm, as far as this one knows, it among them.
  std::size_t swarm_size() const;
  // As policy::small_mesh.
  bool small_mesh() const { return policy::small_mesh(mesh(), context_.options); }
  // Whether this peer has as many as it wants.
  bool crowded() const;
  // Whether all that it wants are connected or being called: more of them where it starves.
  bool called_enough() const;
  // Whether to call an address that is due.
  bool wants_to_dial() const;
  // Up to this number of neighbours a newcomer is accepted. Callers leave places for those that
  // this peer has still to call itself, as long as it knows of any. Of these one may come where all
  // places are taken: another gives way to it when it has said Hello.
  std::size_t places_for(bool called) const;
  bool too_many() const;
  // Whether it has called no more than it is to.
  bool spares_called() const { return neighbours_.called().size() <= own_calls(); }

 private:
  policy::MeshView mesh() const;
  std::size_t wanted() const;
  std::size_t own_calls() const;
  std::size_t own_calls_missing() const;

  const Context& context_;
  const Life& life_;
  const Trackers& trackers_;
  const PeerBook& book_;
  const Hunger& hunger_;
  const Neighbours& neighbours_;
  RecentMost met_;          // neighbours at a time
  TimeUs own_call_at_ = 0;  // not before this one beyond those that are wanted
};

}  // namespace firn::core
