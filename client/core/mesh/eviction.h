// Decides which neighbour is dropped for a newcomer when all places are taken. Keys and addresses
// are free, so no identity or address may hold a place without doing anything.
#pragma once

#include <map>
#include <string>

#include "client/core/base/types.h"
#include "client/core/neighbour/neighbours.h"

namespace firn::core {

// A neighbour that moved no block for this long makes room for a newcomer where all places are
// taken; sooner if it neither wants a block that we may send nor lets us send one. Its Hello must
// have come sooner still. Less: honest peers that wait lose their place; more: the idle keep it.
inline constexpr TimeUs kIdleTime = 120 * kSecond;
inline constexpr TimeUs kIdleTimeCrowded = 5 * kSecond;
inline constexpr TimeUs kFirstMessageTime = 2 * kSecond;
inline constexpr TimeUs kIdledAwayTime = 60 * kSecond;  // then its network may do so again
// Networks of which is kept that a neighbour did so, and those that predecessors.h remembers.
inline constexpr std::size_t kNetworksMax = 1024;

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
