#include "client/core/accusations.h"

namespace firn::core {

void Accusations::banned_by(const PeerId& neighbour) {
  if (accusers_.size() >= kAccusersMin || !accusers_.insert(neighbour).second) return;
  if (accusers_.size() == kAccusersMin) tell("your peers say");
}

void Accusations::convicted() {
  tell("the publisher of this content says");
}

void Accusations::tell(const char* who) {
  if (told_) return;
  told_ = true;
  outbox_.warn(std::string(who) +
               " that blocks from this machine arrive damaged: check its memory and its disk");
}

}  // namespace firn::core
