// A part of the core that acts of its own accord: in a step, and when a neighbour leaves.
// parts.cc lists all of them, in the order of a step.
#pragma once

#include "client/core/base/types.h"
#include "proto/base/ids.h"

namespace firn::core {

class Neighbour;

class Part {
 public:
  virtual ~Part() = default;
  // Does what is due.
  virtual void step() {}
  // When step() has something to do because of time alone.
  virtual TimeUs next_due() { return kNever; }
  // The neighbour is forgotten after this.
  virtual void neighbour_left(const Neighbour&) {}
  // The peer was found to have sent what is false.
  virtual void banned(const PeerId&) {}
};

}  // namespace firn::core
