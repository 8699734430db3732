// Networks (network_of) from which several peers have sent false blocks. A newcomer from there may
// be one of them under another key, or an honest peer behind the same address, so it is not turned
// away: it is granted a part of what others are until some of its rows have been proven. What a
// guilty one can spoil before it is found out is so much less.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "client/core/types.h"

namespace firn::core {

class Probation {
 public:
  // The peer, connected from `ip`, has sent a false block.
  void convicted(const PeerId& id, const std::string& ip, TimeUs now);
  // It has not.
  void acquitted(const PeerId& id);
  // How many rows of a newcomer from `ip` must be proven first; 0: it is granted as all others.
  std::uint32_t rows_to_prove(const std::string& ip, TimeUs now) const;

 private:
  using Guilty = std::map<PeerId, TimeUs>;  // when it was found out
  bool make_room();

  std::map<std::string, Guilty> networks_;
};

}  // namespace firn::core
