// Which neighbour a relay that has finished its download serves next, where it has many: the same
// one as by a look at all of them (RelayPolicy::line_up), but kept in order, so that a choice costs
// the same among ten thousand neighbours as among ten. It must be told whatever changes about a
// neighbour.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>

#include "client/core/types.h"

namespace firn::core::policy {

class RelayLine {
 public:
  enum class Where : std::uint8_t {
    kOut,      // it wants nothing, or its socket has no room
    kIdle,     // its socket holds nothing of ours
    kWaiting,  // its socket holds something, and has room
    kParked,
  };
  struct Place {
    std::uint64_t turn = 0;  // the lowest comes first
    Where where = Where::kOut;
    bool few = false;     // it has few neighbours
    bool takes = false;   // and gives nothing
    bool last = false;    // it is served last where others want blocks
    bool wants = false;   // it needs blocks, whether it may be sent some or not
    bool needed = false;  // it counts as one that has few neighbours, and lacks something
    bool operator==(const Place&) const = default;
  };
  // Of one choice.
  struct Terms {
    bool idle_too = false;     // also those whose sockets hold nothing of ours
    bool last_behind = false;  // those that are served last come behind all others
    bool takers_behind = false;
    std::uint64_t few_ahead = 0;  // turns by which those with few neighbours come sooner
  };

  void update(PeerKey peer, const Place& next);
  void leaves(PeerKey peer);
  // There is nothing to send to it: it is left out until it is updated.
  void park(PeerKey peer);
  void clear() { *this = {}; }
  // kNoPeer: nobody.
  PeerKey first(const Terms& terms) const;
  const Place& place(PeerKey peer) const { return places_.at(peer); }

  // Those with few neighbours that lack something.
  std::size_t few() const { return few_; }
  // Somebody wants blocks that is not served last.
  bool anybody_wants() const { return wanting_ > 0; }

 private:
  static bool in_line(const Place& place) {
    return place.where == Where::kIdle || place.where == Where::kWaiting;
  }
  static std::size_t line_of(const Place& place) {
    return place.few * 8u + place.takes * 4u + place.last * 2u + (place.where == Where::kIdle);
  }
  void count(const Place& place, int by);

  std::unordered_map<PeerKey, Place> places_;
  std::array<std::set<std::pair<std::uint64_t, PeerKey>>, 16> lines_;  // by line_of
  std::size_t few_ = 0, wanting_ = 0;
};

}  // namespace firn::core::policy
