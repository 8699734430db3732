// The rank map: every generation a cell, or, of many, every few of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/view/swarm_view.h"

namespace firn::app {

struct MapCell {
  // The worst that is in it, but for kMissing, kVerified: nothing of it, all of it.
  enum class State : std::uint8_t {
    kMissing,
    kVerified,
    kFilling,
    kInFlight,
    kDecoding,
    kLost,  // verified once, and not wanted any more
    kStalled,
    kQuarantined,
  };
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint64_t rank = 0;
  std::uint64_t blocks = 0;  // that it needs
  State state = State::kMissing;
};

// Part of a content, as a map shows it.
struct MapRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;  // 0: up to the end
};

struct RankMap {
  static constexpr std::uint32_t kCellsMax = 4096;

  std::uint32_t generations = 0;  // of the content
  MapRange range;                 // within it
  std::uint32_t per_cell = 1;
  std::vector<MapCell> cells;
};

// Of no cells where the shape is not known. A range beyond the content is cut to fit.
RankMap rank_map(const core::SwarmView& view, MapRange range);
// All of a range as one cell. The shape is known.
MapCell cell_of(const core::SwarmView& view, MapRange range);
// The filling generation of that number; null: it does not fill.
const core::FillingGeneration* filling_at(const core::SwarmView& view, std::uint32_t number);
// Who sent the rows of the generations of a range that fill, most first.
std::vector<core::FillingGeneration::Sender> senders_of(const core::SwarmView& view,
                                                        MapRange range);

const char* name_of(MapCell::State state);

}  // namespace firn::app
