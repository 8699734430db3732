#include "client/app/page/rank_map.h"

#include <algorithm>
#include <map>
#include <span>

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

// Of the states that are worse than part of it: their order in the enumeration.
void count_filling(MapCell& cell, const core::FillingGeneration& filling) {
  cell.rank += filling.rank;
  const State state = state_of(filling.state);
  if (cell.state == State::kVerified || state > cell.state) cell.state = state;
}

// Within the content, which has generations.
MapRange cut_to_fit(MapRange range, std::uint32_t generations) {
  range.first = std::min(range.first, generations - 1);
  const std::uint32_t left = generations - range.first;
  range.count = range.count == 0 ? left : std::min(range.count, left);
  return range;
}

// Those generations that fill, of a range that fits.
std::span<const core::FillingGeneration> filling_in(const core::SwarmView& view, MapRange range) {
  const auto begin = std::ranges::lower_bound(view.filling, range.first, std::ranges::less(),
                                              &core::FillingGeneration::number);
  const auto end = std::ranges::lower_bound(begin, view.filling.end(), range.first + range.count,
                                            std::ranges::less(), &core::FillingGeneration::number);
  return {begin, end};
}

RankMap map_in_cells(const core::SwarmView& view, MapRange range, std::uint32_t per_cell) {
  RankMap map;
  map.generations = view.verified.size();
  map.range = range;
  map.per_cell = per_cell;
  for (std::uint32_t at = 0; at < range.count; at += per_cell) {
    MapCell cell;
    cell.first = range.first + at;
    cell.count = std::min(per_cell, range.count - at);
    count_settled(cell, view);
    map.cells.push_back(cell);
  }
  for (const core::FillingGeneration& filling : filling_in(view, range))
    count_filling(map.cells[(filling.number - range.first) / per_cell], filling);
  return map;
}

}  // namespace

RankMap rank_map(const core::SwarmView& view, MapRange range) {
  if (view.verified.size() == 0) return {};
  range = cut_to_fit(range, view.verified.size());
  return map_in_cells(view, range, (range.count + RankMap::kCellsMax - 1) / RankMap::kCellsMax);
}

MapCell cell_of(const core::SwarmView& view, MapRange range) {
  range = cut_to_fit(range, view.verified.size());
  return map_in_cells(view, range, range.count).cells[0];
}

const core::FillingGeneration* filling_at(const core::SwarmView& view, std::uint32_t number) {
  const auto found = filling_in(view, {number, 1});
  return found.empty() ? nullptr : &found[0];
}

std::vector<core::FillingGeneration::Sender> senders_of(const core::SwarmView& view,
                                                        MapRange range) {
  std::map<PeerId, std::uint32_t> rows;
  for (const auto& filling : filling_in(view, cut_to_fit(range, view.verified.size())))
    for (const auto& sender : filling.senders) rows[sender.id] += sender.rows;
  std::vector<core::FillingGeneration::Sender> senders;
  for (const auto& [id, count] : rows) senders.push_back({id, count});
  std::ranges::stable_sort(senders, std::ranges::greater(), &core::FillingGeneration::Sender::rows);
  return senders;
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
