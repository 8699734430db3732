#include "client/app/page/map_markup.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/app/console/quantities.h"
#include "proto/web/markup.h"

namespace firn::app {
namespace {

using State = MapCell::State;
using web::html;

constexpr std::size_t kRunsMax = 500;
constexpr std::size_t kSendersMax = 6;  // that a title names
constexpr int kStep = 10;               // from a cell to the next
constexpr int kSide = 9;
constexpr int kMargin = 64;  // for the numbers beside the rows

std::size_t columns_of_map(std::size_t cells) {
  return cells > 1024 ? 128 : cells > 256 ? 64 : 32;
}

std::string generations_of(const MapCell& cell) {
  if (cell.count == 1) return fmt::format("generation {}", cell.first);
  return fmt::format("generations {} to {}", cell.first, cell.first + cell.count - 1);
}

std::string sender_name(const PeerId& id, const std::vector<core::PeerStatus>& peers) {
  const auto known = std::ranges::find(peers, id, &core::PeerStatus::id);
  return known == peers.end() ? id.short_text() + " (gone)"
                              : id.short_text() + " at " + known->endpoint;
}

std::string rows_link(const RankMap& map, std::size_t row, std::size_t columns,
                      const std::string& path) {
  const MapCell& first = map.cells[row * columns];
  const MapCell& last = map.cells[std::min((row + 1) * columns, map.cells.size()) - 1];
  const std::string text =
      fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kMargin - 6,
                  static_cast<int>(row) * kStep + kSide - 1, first.first);
  if (map.per_cell == 1) return text;
  return fmt::format(
      "<a href=\"{}?from={}&amp;count={}#map\" aria-label=\"Zoom to generations {} to {}\">"
      "{}</a>",
      html(path), first.first, last.first + last.count - first.first, first.first,
      last.first + last.count - 1, text);
}

std::string ways(const RankMap& map, const std::string& path) {
  std::string ways = fmt::format(
      "<form class=\"ways\" method=\"get\" action=\"{}#map\"><label for=\"from\">From generation"
      "</label><input id=\"from\" name=\"from\" inputmode=\"numeric\" size=\"8\" value=\"{}\">"
      "<label for=\"count\">how many</label><input id=\"count\" name=\"count\" "
      "inputmode=\"numeric\" size=\"8\" value=\"{}\"><button>Show</button>",
      html(path), map.range.first, map.range.count);
  if (map.range.count < map.generations)
    ways += fmt::format(" <a href=\"{}#map\">All {} generations</a>", html(path), map.generations);
  return ways + "</form>";
}

constexpr std::pair<const char*, const char*> kLegend[] = {
    {"m", "missing"},      {"r2", "a quarter"}, {"r5", "half"},    {"r8", "nearly full"},
    {"r5 f", "in flight"}, {"d", "decoding"},   {"v", "verified"}, {"s", "stalled"},
    {"q", "quarantined"},  {"l", "lost"}};

std::string legend() {
  std::string text = "<ul class=\"legend\">";
  for (const auto& [style, name] : kLegend)
    text += fmt::format(
        "<li><svg width=\"11\" height=\"11\" aria-hidden=\"true\" class=\"map\">"
        "<rect class=\"{}\" x=\"1\" y=\"1\" width=\"9\" height=\"9\"/></svg>{}</li>",
        style, name);
  return text + "</ul>";
}

}  // namespace

CellMarkup cell_markup(const MapCell& cell, const std::vector<core::PeerStatus>& peers) {
  CellMarkup markup;
  const double share =
      cell.blocks == 0 ? 0 : static_cast<double>(cell.rank) / static_cast<double>(cell.blocks);
  const int level = std::clamp(static_cast<int>(share * 9), 0, 8);
  switch (cell.state) {
    case State::kMissing:
      markup.style = "m";
      break;
    case State::kVerified:
      markup.style = "v";
      break;
    case State::kFilling:
      markup.style = fmt::format("r{}", level);
      break;
    case State::kInFlight:
      markup.style = fmt::format("r{} f", level);
      break;
    case State::kDecoding:
      markup.style = "d";
      break;
    case State::kLost:
      markup.style = "l";
      break;
    case State::kStalled:
      markup.style = "s";
      break;
    case State::kQuarantined:
      markup.style = "q";
      break;
  }
  markup.title = generations_of(cell) + ": " + name_of(cell.state);
  if (cell.state != State::kMissing && cell.state != State::kVerified)
    markup.title += fmt::format(", rank {} of {}", cell.rank, cell.blocks);
  for (const core::FillingGeneration& filling : cell.filling) {
    if (filling.still_for >= core::FillingGeneration::kStalledTime)
      markup.title += ", nothing new for 10 s";
    for (std::size_t i = 0; i < std::min(filling.senders.size(), kSendersMax); ++i)
      markup.title +=
          fmt::format("{} {} ({})", i == 0 ? ", from" : ",",
                      sender_name(filling.senders[i].id, peers), filling.senders[i].rows);
    if (filling.senders.size() > kSendersMax)
      markup.title += fmt::format(" and {} more", filling.senders.size() - kSendersMax);
  }
  return markup;
}

std::string map_section(const RankMap& map, const std::vector<core::PeerStatus>& peers,
                        const std::string& path) {
  if (map.cells.empty()) return "<p>The content's shape is not known yet.</p>";
  const std::size_t columns = columns_of_map(map.cells.size());
  const std::size_t rows = (map.cells.size() + columns - 1) / columns;
  std::string svg = fmt::format(
      "<svg class=\"map\" id=\"cells\" viewBox=\"0 0 {} {}\" role=\"group\" "
      "aria-label=\"Rank map: {} cells, {} a generation each\">",
      static_cast<int>(columns) * kStep + kMargin, static_cast<int>(rows) * kStep, map.cells.size(),
      map.per_cell == 1 ? std::string("of one") : fmt::format("of {}", map.per_cell));
  for (std::size_t row = 0; row < rows; ++row) {
    svg += "<g>" + rows_link(map, row, columns, path);
    for (std::size_t i = row * columns; i < std::min((row + 1) * columns, map.cells.size()); ++i) {
      const CellMarkup markup = cell_markup(map.cells[i], peers);
      fmt::format_to(std::back_inserter(svg),
                     "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}"
                     "</title></rect>",
                     markup.style, static_cast<int>(i - row * columns) * kStep + kMargin,
                     static_cast<int>(row) * kStep, kSide, kSide, html(markup.title));
    }
    svg += "</g>";
  }
  svg += "</svg>";
  std::string note;
  if (map.per_cell > 1)
    note = fmt::format(
        "<p>Each cell stands for {} generations; the number beside a row zooms to it.</p>",
        map.per_cell);
  return ways(map, path) + note + "<div class=\"wide\">" + svg + "</div>" + legend();
}

std::string map_table(const RankMap& map) {
  std::string table =
      "<table><thead><tr><th scope=\"col\">Generations</th><th scope=\"col\">State</th>"
      "<th scope=\"col\" class=\"n\">Rank</th><th scope=\"col\" class=\"n\">of</th></tr></thead>"
      "<tbody>";
  std::size_t runs = 0;
  for (std::size_t i = 0; i < map.cells.size();) {
    MapCell run = map.cells[i];
    const bool settled = run.state == State::kMissing || run.state == State::kVerified;
    std::size_t next = i + 1;
    for (; settled && next < map.cells.size() && map.cells[next].state == run.state; ++next) {
      run.count += map.cells[next].count;
      run.rank += map.cells[next].rank;
      run.blocks += map.cells[next].blocks;
    }
    i = next;
    if (++runs > kRunsMax) return table + "</tbody></table><p>And more.</p>";
    fmt::format_to(
        std::back_inserter(table),
        "<tr><td>{}{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
        run.first, run.count == 1 ? "" : fmt::format(" to {}", run.first + run.count - 1),
        name_of(run.state), run.rank, run.blocks);
  }
  return table + "</tbody></table>";
}

}  // namespace firn::app
