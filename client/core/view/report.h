// Figures of a swarm core for people and logs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/base/types.h"
#include "client/core/view/standstill.h"
#include "proto/base/ids.h"

namespace firn::core {

struct Parts;  // parts.h

struct NeighbourReport {
  PeerId id;
  std::string endpoint;   // ip:port as connected
  bool complete = false;  // holds everything
  std::uint64_t rank = 0;
  std::uint64_t blocks_received = 0;
  std::uint64_t blocks_innovative = 0;
  std::uint64_t blocks_recoded = 0;  // received, made by recoding
  std::uint64_t blocks_sent = 0;
};

struct Report {
  // Of the generations that the user wants; content bytes, without padding.
  std::uint64_t bytes_verified = 0;
  std::uint64_t bytes_wanted = 0;
  std::uint64_t rank = 0;        // rows held
  std::uint64_t rank_total = 0;  // rows that they need
  // The same of all generations.
  std::uint64_t rank_of_all = 0, rank_total_of_all = 0;
  std::uint32_t generations_verified = 0;
  std::uint32_t generations_lost = 0;  // SwarmCore::generation_lost, and not to be fetched again
  std::string first_loss;              // why, of the one that was lost first; for people
  std::uint32_t peers = 0;             // connected
  std::uint64_t bytes_received = 0;    // frames from and to peers
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_from_origins = 0;  // content bytes, verified
  std::uint64_t blocks_innovative = 0;
  std::uint64_t blocks_redundant = 0;
  std::uint64_t blocks_recoded = 0;  // received blocks that their sender had recoded
  std::uint64_t blocks_refused = 0;  // false, or dropped as their sender was not believed any more
  std::uint64_t blocks_sent = 0;
  bool complete = false;                    // all that is wanted, and finished in the store
  std::vector<NeighbourReport> neighbours;  // present and past, one per peer id
};

// The few numbers of a Report that cost nothing to ask for.
struct Counters {
  std::uint64_t rank = 0;
  std::uint64_t blocks_innovative = 0;
  std::uint64_t blocks_redundant = 0;
  std::uint64_t blocks_sent = 0;
  std::uint32_t neighbours = 0;
  std::uint64_t walks = 0;  // Neighbours::walks
  // When something last came that brings the download on: an innovative block, a verified
  // generation, a part of the manifest; else when this peer began.
  TimeUs progressed_at = 0;
  // Null: none has come, or the right one has. Until the next input.
  const ForeignManifest* foreign_manifest = nullptr;
};

// Without the neighbours it costs the same however many there are.
enum class ReportOn { kTotals, kNeighbours };
Report report_of(const Parts& parts, ReportOn on);
Counters counters_of(const Parts& parts);

}  // namespace firn::core
