// How a neighbour is regarded, as far as its rows go: one word for all that was found out about it.
// The folder trust/ finds it out; granting and the policies go by it.
#pragma once

#include <cstdint>

namespace firn::core {

enum class Regard : std::uint8_t {
  kProven,       // a row of it was shown to be true, or it speaks for the content's authority
  kNew,          // none was so far: it is on trial
  kSuspect,      // the same, and a row of it was false of late, or this peer has met polluters
  kShut,         // proven once; but others say that it sends false rows now: it gets nothing, and
                 // what it sends is thrown away
  kShutSuspect,  // the same of one that is on trial
};

inline bool is_shut(Regard regard) {
  return regard >= Regard::kShut;
}
inline bool is_suspect(Regard regard) {
  return regard == Regard::kSuspect || regard == Regard::kShutSuspect;
}
inline bool on_trial(Regard regard) {
  return regard == Regard::kNew || is_suspect(regard);
}

}  // namespace firn::core
