// Finds why a download does not move (standstill.h), from const views of the core's parts.
//
// It is asked when nothing has come for a while. Then what neighbours claim has been tried: a
// generation of which no neighbour holds more rows than we do is taken to be lacking, although
// spans of equal rank may differ (null vectors would have shown that by then).
#pragma once

#include <string>
#include <vector>

#include "client/core/holdings.h"
#include "client/core/neighbours.h"
#include "client/core/peer_book.h"
#include "client/core/standstill.h"

namespace firn::core {

// Everything that the answer depends on.
struct StandstillView {
  const PeerBook& book;
  std::vector<TrackerStanding> trackers;
  const Neighbours& neighbours;
  const Holdings* holdings = nullptr;  // null: no manifest yet
  const std::string& store_error;      // empty: the disk is not paused
  bool store_behind = false;
  bool limited = false;  // the download limit lets nothing be granted
};

Standstill explain(const StandstillView& view);

}  // namespace firn::core
