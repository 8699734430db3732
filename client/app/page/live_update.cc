#include "client/app/page/live_update.h"

#include "client/app/page/map_markup.h"

namespace firn::app {

void LiveUpdate::regions(const Regions& regions) {
  for (const auto& [id, markup] : regions) {
    const auto sent = sent_regions_.find(id);
    if (sent != sent_regions_.end() && sent->second == markup) continue;
    json_["regions"][id] = markup;
    changed_regions_.emplace_back(id, markup);
  }
}

// A page that has just been made has its cells; the first event brings those that differ from it,
// and as it is not known which do, a few at a time all of them.
void LiveUpdate::cells(const RankMap& map, const std::vector<core::PeerStatus>& peers) {
  cell_count_ = map.cells.size();
  sent_cells_.resize(cell_count_);
  for (std::size_t i = 0; i < cell_count_ && changed_cells_.size() < kCellsMax; ++i) {
    CellMarkup markup = cell_markup(map.cells[i], peers);
    std::string shown = markup.style + '\n' + markup.title;
    if (sent_cells_[i] == shown) continue;
    json_["cells"].push_back({i, markup.style, markup.title});
    changed_cells_.emplace_back(i, std::move(shown));
  }
}

std::string LiveUpdate::text() const {
  if (json_.empty()) return ":\n\n";
  // A line: what JSON escapes has no line ends.
  return "data: " + json_.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n\n";
}

void LiveUpdate::commit() {
  for (auto& [id, markup] : changed_regions_) sent_regions_[id] = std::move(markup);
  for (auto& [i, shown] : changed_cells_) sent_cells_[i] = std::move(shown);
}

}  // namespace firn::app
