// Decides which neighbour is dropped for a newcomer when all places are taken. Keys and addresses
// are free, so no identity or address may hold a place without doing anything.
#pragma once

#include <map>
#include <string>

#include "client/core/base/types.h"
#include "client/core/neighbour/neighbours.h"

namespace firn::core {

class Eviction {
 public:
  // The neighbour that makes room for a newcomer from `ip`; null: none, all are of use.
  // `spares_called`: those that this peer has called do so only if they do nothing.
  Neighbour* gives_way(Neighbours& neighbours, const std::string& ip, bool spares_called,
                       TimeUs now);

  // Of those that have called, the one with which least has moved, and of these the one that has
  // been here longest; null: none has been here for some seconds.
  static Neighbour* of_least_use(Neighbours& neighbours, TimeUs now);

 private:
  bool has_idled_away(const std::string& network, TimeUs now) const;
  void note_idled_away(const std::string& network, TimeUs now);

  // Networks whose neighbour had to go for having done nothing, until when that counts.
  std::map<std::string, TimeUs> idled_away_;
};

}  // namespace firn::core
