#include "client/app/page/rank_map.h"

#include <algorithm>

namespace firn::app {
namespace {

using State = MapCell::State;

State state_of(core::FillingGeneration::State state) {
  using Filling = core::FillingGeneration::State;
  switch (state) {
    case Filling::kFilling:
      return State::kFilling;
    case Filling::kInFlight:
      return State::kInFlight;
    case Filling::kStalled:
      return State::kStalled;
    case Filling::kQuarantined:
      return State::kQuarantined;
    case Filling::kDecoding:
      return State::kDecoding;
  }
  return State::kFilling;
}

// What of its generations is missing or verified decides where nothing else does.
void count_settled(MapCell& cell, const core::SwarmView& view) {
  const std::uint32_t end = cell.first + cell.count;
  std::uint32_t verified = 0;
  for (std::uint32_t g = cell.first; g < end; ++g) {
    const bool last = g + 1 == view.verified.size();
    const std::uint32_t blocks = last ? view.last_blocks : view.generation_size;
    cell.blocks += blocks;
    if (view.verified.contains(g)) {
      cell.rank += blocks;
      ++verified;
    } else if (view.given_up.contains(g)) {
      cell.state = State::kLost;
    }
  }
  if (cell.state == State::kLost || verified == 0) return;
  cell.state = verified == cell.count ? State::kVerified : State::kFilling;
}

}  // namespace

RankMap rank_map(const core::SwarmView& view, MapRange range) {
  RankMap map;
  map.generations = view.verified.size();
  if (map.generations == 0) return map;
  range.first = std::min(range.first, map.generations - 1);
  const std::uint32_t left = map.generations - range.first;
  range.count = range.count == 0 ? left : std::min(range.count, left);
  map.range = range;
  map.per_cell = (range.count + RankMap::kCellsMax - 1) / RankMap::kCellsMax;
  for (std::uint32_t at = 0; at < range.count; at += map.per_cell) {
    MapCell cell;
    cell.first = range.first + at;
    cell.count = std::min(map.per_cell, range.count - at);
    count_settled(cell, view);
    map.cells.push_back(std::move(cell));
  }
  for (const core::FillingGeneration& filling : view.filling) {
    if (filling.number < range.first || filling.number - range.first >= range.count) continue;
    MapCell& cell = map.cells[(filling.number - range.first) / map.per_cell];
    cell.rank += filling.rank;
    // Of the states that are worse than part of it: their order in the enumeration.
    const State state = state_of(filling.state);
    if (cell.state == State::kVerified || state > cell.state) cell.state = state;
    if (map.per_cell == 1) cell.filling.push_back(filling);
  }
  return map;
}

const char* name_of(MapCell::State state) {
  switch (state) {
    case State::kMissing:
      return "missing";
    case State::kVerified:
      return "verified";
    case State::kFilling:
      return "filling";
    case State::kInFlight:
      return "in flight";
    case State::kDecoding:
      return "decoding";
    case State::kLost:
      return "lost";
    case State::kStalled:
      return "stalled";
    case State::kQuarantined:
      return "quarantined";
  }
  return "";
}

}  // namespace firn::app
