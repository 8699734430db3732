// Connections with blocks that wait in their sockets, those first whose socket has taken nothing
// for longest. One that has taken nothing for `patience` is stuck: its blocks wait for the other
// side and its path, not for our uplink. It does not count as busy, so that it does not hold up the
// others (head-of-line blocking).
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>

#include "client/core/base/types.h"
#include "client/core/neighbour/neighbour.h"
#include "client/core/send/choice/late_binding.h"

namespace firn::core {

class SocketLine {
 public:
  // A block was queued for the neighbour, or has left.
  void update(const Neighbour& n);
  void neighbour_left(PeerKey peer);
  void set_patience(TimeUs patience) { patience_ = patience; }

  bool stuck(const Neighbour& n, TimeUs now) const {
    return n.pipe.queued() > 0 && n.pipe.waiting_since() + patience_ <= now;
  }
  // Connections that wait and are not stuck; counts no further than `most`.
  std::uint32_t busy(TimeUs now, std::uint32_t most) const;
  bool any_stuck(TimeUs now) const {
    return !waiting_.empty() && waiting_.begin()->first + patience_ <= now;
  }
  // When the next one will be stuck if it takes nothing; kNever: none waits that is not.
  TimeUs next_stuck(TimeUs now) const;

 private:
  std::set<std::pair<TimeUs, PeerKey>> waiting_;  // since when
  std::unordered_map<PeerKey, TimeUs> since_;
  TimeUs patience_ = policy::kStuckTime;
};

}  // namespace firn::core
