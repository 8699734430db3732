// Neighbours that said that this peer sent false blocks. One may lie; where several say so, it is
// this machine that spoils what it holds: a person is told.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "client/core/outbox.h"
#include "proto/base/ids.h"

namespace firn::core {

class Accusations {
 public:
  static constexpr std::size_t kAccusersMin = 3;

  explicit Accusations(Outbox& outbox) : outbox_(outbox) {}

  // A neighbour parted with this peer and banned it.
  void banned_by(const PeerId& neighbour);

 private:
  Outbox& outbox_;
  std::set<PeerId> accusers_;  // kAccusersMin at most
};

}  // namespace firn::core
