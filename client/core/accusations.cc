#include "client/core/accusations.h"

namespace firn::core {

void Accusations::banned_by(const PeerId& neighbour) {
  if (accusers_.size() >= kAccusersMin || !accusers_.insert(neighbour).second) return;
  if (accusers_.size() == kAccusersMin) {
    outbox_.warn(
        "your peers say that blocks from this machine arrive damaged: check its memory and its "
        "disk");
  }
}

}  // namespace firn::core
