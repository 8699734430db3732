// Where the bytes of a content came from: origins, peers, and blocks that were of no use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/app/origin/origin_plan.h"

namespace firn::app {

// In this run.
struct Arrivals {
  std::vector<OriginFigures> origins;  // those that are known
  // Of the content, verified.
  std::uint64_t from_origins = 0;
  std::uint64_t from_peers = 0;
  // Of blocks from peers: that held nothing new; that were false, or came from a peer that sent
  // such.
  std::uint64_t redundant = 0;
  std::uint64_t refused = 0;
};

// "48.0 of 49.3 GiB from peers, 1.3 GiB from https://host/"; empty if no origin is known.
std::string arrival_words(const Arrivals& arrivals);

}  // namespace firn::app
