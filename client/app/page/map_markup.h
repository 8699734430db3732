// The rank map as SVG, with the same as a table.
#pragma once

#include <string>
#include <vector>

#include "client/app/page/rank_map.h"

namespace firn::app {

// What changes of a cell: its class, and what hovering tells.
struct CellMarkup {
  std::string style;
  std::string title;  // text
  bool operator==(const CellMarkup&) const = default;
};
// `peers`: to name senders by their addresses.
CellMarkup cell_markup(const MapCell& cell, const std::vector<core::PeerStatus>& peers);

// The map, its legend, and the ways into it and out. `path`: of the page.
std::string map_section(const RankMap& map, const std::vector<core::PeerStatus>& peers,
                        const std::string& path);
// Runs of generations in the same state, kRunsMax at most.
std::string map_table(const RankMap& map);

}  // namespace firn::app
