// The rank map as SVG, with the same as a table.
//
// A row of cells is one element for each style in it, not one for each cell: a browser lays out 400
// shapes at once, and 4,000 not without a pause that a person notices. What a cell holds is asked
// for when it is pointed at (page.js).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/app/page/rank_map.h"
#include "proto/web/live_update.h"

namespace firn::app {

// What a cell looks like: its class.
std::string cell_style(const MapCell& cell);

// Ids of the rows of the map, and their HTML.
web::Regions map_rows(const RankMap& map, const std::string& path);
// The map, its legend, and the ways into it and out. `path`: of the page; `content`: its id.
std::string map_section(const RankMap& map, const std::string& path, const std::string& content);
// Runs of generations in the same state, a bounded number of them.
std::string map_table(const RankMap& map, const core::SwarmView& view);

// All that is known of a range in words, as text: its state, rank, and who sent its rows.
std::string range_words(const core::SwarmView& view, MapRange range);

}  // namespace firn::app
