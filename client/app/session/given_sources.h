// The addresses given by hand at which a content may be found, its trackers and peers, and which of
// them proved another identity than the one asked for: when all did, there is nothing to wait for.
#pragma once

#include <map>
#include <string>

#include "client/app/session/life_events.h"
#include "client/core/base/types.h"
#include "proto/base/address.h"

namespace firn::app {

// Main thread.
class GivenSources {
 public:
  GivenSources(const core::Options& options, LifeEvents& life);

  void tracker_heard(const Address& given, bool wrong_identity);
  // Nothing is kept of a peer that was not given by hand.
  void peer_heard(const Address& given, bool wrong_identity);

 private:
  void heard(const std::string& source, bool wrong_identity);

  LifeEvents& life_;
  std::map<std::string, bool> wrong_;  // by source: whether its last answer was a wrong identity
};

}  // namespace firn::app
