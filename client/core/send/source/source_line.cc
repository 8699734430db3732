#include "client/core/send/source/source_line.h"

#include <algorithm>
#include <cmath>

namespace firn::core::policy {

namespace {

// Rows go to where they are passed on from. It is hearsay, so within bounds.
double weight_of(const Neighbour& neighbour, double usual) {
  double weight = neighbour.worth;
  if (neighbour.holds.upload_kib() > 0 && usual > 0) weight *= neighbour.holds.upload_kib() / usual;
  return std::clamp(weight, kWeightMin, kWeightMax);
}

}  // namespace

SourceLine::Place SourceLine::place_of(const Neighbour& n, const Circumstances& circumstances,
                                       bool urgent) {
  Place place;
  place.wants = n.may_send() && !n.holds.satisfied();
  place.urgent = urgent && (place.wants || n.pipe.queued() > 0);
  place.low_worth = !circumstances.small_mesh && n.low_worth();
  if (!place.wants) return place;
  const bool rush = urgent && circumstances.rush;
  const std::uint32_t queued = n.pipe.queued();
  if (queued == 0) {
    place.where = Where::kIdle;
  } else if (queued < std::max(n.pipe.depth(), rush ? kUrgentDepth : 0)) {
    place.where = Where::kWaiting;
  } else {
    return place;
  }
  place.key = n.pipe.served_log() -
              std::log(weight_of(n, circumstances.usual_uplink) * (rush ? kUrgentWeight : 1));
  return place;
}

void SourceLine::take_out(PeerKey peer, const Place& place) {
  wanting_[place.low_worth] -= place.wants ? 1 : 0;
  hurrying_ -= place.urgent ? 1 : 0;
  if (place.where == Where::kIdle || place.where == Where::kWaiting) {
    line(place).erase({place.key, peer});
  }
}

void SourceLine::put_in(PeerKey peer, const Place& place) {
  wanting_[place.low_worth] += place.wants ? 1 : 0;
  hurrying_ += place.urgent ? 1 : 0;
  if (place.where == Where::kIdle || place.where == Where::kWaiting) {
    line(place).emplace(place.key, peer);
  }
}

void SourceLine::update(const Neighbour& n, const Circumstances& circumstances, bool urgent) {
  Place& place = places_[n.key];
  const Place next = place_of(n, circumstances, urgent);
  if (next.key == place.key && next.where == place.where && next.wants == place.wants &&
      next.low_worth == place.low_worth && next.urgent == place.urgent)
    return;
  take_out(n.key, place);
  put_in(n.key, next);
  place = next;
}

void SourceLine::neighbour_left(PeerKey peer) {
  const auto known = places_.find(peer);
  if (known == places_.end()) return;
  take_out(peer, known->second);
  places_.erase(known);
}

void SourceLine::park(PeerKey peer) {
  Place& place = places_.at(peer);
  line(place).erase({place.key, peer});
  place.where = Where::kParked;
  if (parked_.size() > 2 * places_.size()) {  // most of them were updated since
    std::erase_if(parked_, [this](PeerKey one) {
      const auto known = places_.find(one);
      return known == places_.end() || known->second.where != Where::kParked;
    });
    std::sort(parked_.begin(), parked_.end());
    parked_.erase(std::unique(parked_.begin(), parked_.end()), parked_.end());
  }
  parked_.push_back(peer);
}

PeerKey SourceLine::first(bool low_worth, bool idle_too) const {
  const Line& waiting = lines_[low_worth][false];
  const Line& idle = lines_[low_worth][true];
  if (!idle_too || idle.empty()) return waiting.empty() ? kNoPeer : waiting.begin()->second;
  if (waiting.empty()) return idle.begin()->second;
  return std::min(*waiting.begin(), *idle.begin()).second;
}

void UplinkClaims::replace(std::uint32_t old, std::uint32_t claim) {
  if (old == claim) return;
  if (old > 0) sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), old));
  if (claim > 0) sorted_.insert(std::lower_bound(sorted_.begin(), sorted_.end(), claim), claim);
}

void UplinkClaims::update(const Neighbour& n) {
  const std::uint32_t claim = n.holds.has_everything() ? 0 : n.holds.upload_kib();
  const auto known = of_.find(n.key);
  if (known == of_.end() && claim == 0) return;
  replace(std::exchange(of_[n.key], claim), claim);
}

void UplinkClaims::neighbour_left(PeerKey peer) {
  const auto known = of_.find(peer);
  if (known == of_.end()) return;
  replace(known->second, 0);
  of_.erase(known);
}

}  // namespace firn::core::policy
