// The order in which a source serves neighbours (weighted fair queueing): first the one that was
// served least of late relative to what its rows are worth, of those that can take a block. It is
// kept sorted, so that a choice costs the same among ten thousand neighbours as among ten: call
// update() whenever something about a neighbour changes.
//
// How much a neighbour was served of late fades with time, for all at the same rate. So the order
// does not change while nobody is served, and the key is the logarithm of that amount, as of one
// fixed time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/core/neighbour/neighbours.h"

namespace firn::core::policy {

// A source weighs a neighbour by its uplink over the median one, as announced, within these bounds.
// Rows of the first pass that go to a peer which does not upload are lacking everywhere else [014].
inline constexpr double kWeightMin = 0.001;
inline constexpr double kWeightMax = 4;
// In a rush a neighbour whose reader waits for this source has 64 times its weight, and 4 of its
// blocks may wait in its socket [100].
inline constexpr double kUrgentWeight = 64;
inline constexpr std::uint32_t kUrgentDepth = 4;

// What downloading neighbours say of their uplinks, and what is usual among them.
class UplinkClaims {
 public:
  // The neighbour may say something else than before.
  void update(const Neighbour& n);
  void neighbour_left(PeerKey peer);
  // The median, KiB a second; 0: nobody has said anything. Not the mean: one neighbour that claims
  // enough would make every other look like one that passes nothing on.
  double usual() const {
    return sorted_.empty() ? 0 : static_cast<double>(sorted_[sorted_.size() / 2]);
  }

 private:
  void replace(std::uint32_t old, std::uint32_t claim);

  std::unordered_map<PeerKey, std::uint32_t> of_;
  std::vector<std::uint32_t> sorted_;
};

class SourceLine {
 public:
  // What a choice is among.
  struct Circumstances {
    bool small_mesh = true;   // there nobody is of low worth
    double usual_uplink = 0;  // KiB a second, of those that download; 0: none has said
    bool rush = false;        // SourceLine::some_hurry
    bool operator==(const Circumstances&) const = default;
  };

  // Something about the neighbour has changed: its State, its queue, its worth.
  // `urgent`: it reads what nobody has.
  void update(const Neighbour& n, const Circumstances& circumstances, bool urgent);
  void neighbour_left(PeerKey peer);
  // There is nothing to send to it: it leaves the line until it is updated.
  void park(PeerKey peer);
  // Those left out so, to be updated; neighbours that have left may be among them.
  std::vector<PeerKey> take_parked() { return std::exchange(parked_, {}); }

  // Neighbours that want blocks and may be sent some, now or when their sockets take them.
  bool anybody_wants(bool low_worth) const { return wanting_[low_worth] > 0; }
  // Some neighbours read what nobody has, but not most.
  bool some_hurry() const { return hurrying_ > 0 && 2 * hurrying_ <= wanting_[0] + wanting_[1]; }
  // The first in line; kNoPeer: nobody. `idle_too`: also those whose sockets hold nothing of ours.
  PeerKey first(bool low_worth, bool idle_too) const;
  // How much it was served of late for what its rows are worth: comparable among those in line.
  double key(PeerKey peer) const { return places_.at(peer).key; }

 private:
  enum class Where : std::uint8_t {
    kOut,      // it wants nothing, or its socket has no room
    kIdle,     // its socket holds nothing of ours
    kWaiting,  // its socket holds something, and has room
    kParked,
  };
  struct Place {
    double key = 0;
    Where where = Where::kOut;
    bool wants = false, low_worth = false, urgent = false;
  };
  using Line = std::set<std::pair<double, PeerKey>>;
  Line& line(const Place& place) { return lines_[place.low_worth][place.where == Where::kIdle]; }
  static Place place_of(const Neighbour& n, const Circumstances& circumstances, bool urgent);
  void take_out(PeerKey peer, const Place& place);
  void put_in(PeerKey peer, const Place& place);

  std::unordered_map<PeerKey, Place> places_;
  std::array<std::array<Line, 2>, 2> lines_;  // low_worth or not, idle or not
  std::array<std::size_t, 2> wanting_{};
  std::size_t hurrying_ = 0;
  std::vector<PeerKey> parked_;
};

}  // namespace firn::core::policy
