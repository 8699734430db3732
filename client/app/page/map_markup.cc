#include "client/app/page/map_markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "proto/web/markup.h"

namespace firn::app {
namespace {

using State = MapCell::State;
using web::html;

constexpr std::size_t kRunsMax = 100;
constexpr std::size_t kSendersMax = 6;  // that are named
// From a cell to the next; a row is high enough for the number beside it.
constexpr int kStep = 10, kRowStep = 14;
constexpr int kWidth = kStep - 1, kHeight = kRowStep - 1;
constexpr int kMargin = 64;  // for the numbers beside the rows

std::size_t columns_of_map(std::size_t cells) {
  return cells > 1024 ? 128 : 64;
}

bool settled(const MapCell& cell) {
  return cell.state == State::kMissing || cell.state == State::kVerified;
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

// "A (rows), B (rows) and 3 more"; empty: there are none.
std::string senders_in(const core::SwarmView& view, MapRange range) {
  const auto senders = senders_of(view, range);
  std::string text;
  for (std::size_t i = 0; i < std::min(senders.size(), kSendersMax); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", sender_name(senders[i].id, view.peers),
                        senders[i].rows);
  if (senders.size() > kSendersMax)
    text += fmt::format(" and {} more", senders.size() - kSendersMax);
  return text;
}

std::string row_label(const RankMap& map, std::size_t begin, std::size_t end,
                      const std::string& path) {
  const MapCell& first = map.cells[begin];
  const MapCell& last = map.cells[end - 1];
  const std::string text = fmt::format("<text x=\"-6\" y=\"{}\" text-anchor=\"end\">{}</text>",
                                       kHeight - 3, first.first);
  if (map.per_cell == 1) return text;
  return fmt::format(
      "<a href=\"{}?from={}&amp;count={}#map\" aria-label=\"Zoom to generations {} to {}\">"
      "{}</a>",
      html(path), first.first, last.first + last.count - first.first, first.first,
      last.first + last.count - 1, text);
}

std::string row_markup(const RankMap& map, std::size_t begin, std::size_t end,
                       const std::string& path) {
  // By style, and what the cells of one are called.
  std::map<std::string, std::pair<std::string, State>> shapes;
  for (std::size_t i = begin; i < end; ++i) {
    auto& [shape, state] = shapes[cell_style(map.cells[i])];
    fmt::format_to(std::back_inserter(shape), "M{} 0h{}v{}h-{}z",
                   static_cast<int>(i - begin) * kStep, kWidth, kHeight, kWidth);
    state = map.cells[i].state;
  }
  std::string row = row_label(map, begin, end, path);
  for (const auto& [style, shape] : shapes)
    row += fmt::format("<path class=\"{}\" d=\"{}\"><title>{}</title></path>", style, shape.first,
                       name_of(shape.second));
  return row;
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
    {"m", "missing"},
    {"r2", "a quarter"},
    {"r5", "half"},
    {"r8", "nearly full"},
    {"r5 f", "in flight: blocks are under way"},
    {"d", "decoding"},
    {"v", "verified: whole and right"},
    {"s", "stalled: nothing new for 10 s"},
    {"q", "quarantined: decoded to false data, or waits for proof"},
    {"l", "lost: was verified, its file is changed or gone"}};

std::string legend() {
  std::string text = "<ul class=\"legend\">";
  for (const auto& [style, name] : kLegend)
    text += fmt::format(
        "<li><svg width=\"11\" height=\"11\" aria-hidden=\"true\" class=\"map\">"
        "<rect class=\"{}\" x=\"1\" y=\"1\" width=\"9\" height=\"9\"/></svg>{}</li>",
        style, name);
  return text + "</ul>";
}

// For the script, which shows it: a cell is chosen with the mouse on the map, or with keys here.
std::string probe(const RankMap& map, const std::string& content) {
  return fmt::format(
      "<div class=\"probe scripted\" id=\"probe\" data-content=\"{}\" data-from=\"{}\" "
      "data-count=\"{}\" data-per=\"{}\" data-columns=\"{}\"><label for=\"cell\">Choose a "
      "cell</label>"
      "<input id=\"cell\" type=\"range\" min=\"0\" max=\"{}\" value=\"0\">"
      "<a id=\"zoom\" href=\"#map\"{}>Zoom in</a><p id=\"told\">Point at a cell, or choose one "
      "here with the arrow keys, to see who supplies it.</p></div>",
      html(content), map.range.first, map.range.count, map.per_cell,
      columns_of_map(map.cells.size()), map.cells.size() - 1, map.per_cell == 1 ? " hidden" : "");
}

}  // namespace

std::string cell_style(const MapCell& cell) {
  const double share =
      cell.blocks == 0 ? 0 : static_cast<double>(cell.rank) / static_cast<double>(cell.blocks);
  const int level = std::clamp(static_cast<int>(share * 9), 0, 8);
  switch (cell.state) {
    case State::kMissing:
      return "m";
    case State::kVerified:
      return "v";
    case State::kFilling:
      return fmt::format("r{}", level);
    case State::kInFlight:
      return fmt::format("r{} f", level);
    case State::kDecoding:
      return "d";
    case State::kLost:
      return "l";
    case State::kStalled:
      return "s";
    case State::kQuarantined:
      return "q";
  }
  return "m";
}

std::string range_words(const core::SwarmView& view, MapRange range) {
  if (view.verified.size() == 0) return "the content's shape is not known yet";
  const MapCell cell = cell_of(view, range);
  std::string words = generations_of(cell) + ": " + name_of(cell.state);
  if (settled(cell)) return words;
  words += fmt::format(", rank {} of {}", cell.rank, cell.blocks);
  const auto* const filling = cell.count == 1 ? filling_at(view, cell.first) : nullptr;
  if (filling != nullptr && filling->still_for >= core::FillingGeneration::kStalledTime)
    words += ", nothing new for 10 s";
  const std::string senders = senders_in(view, {cell.first, cell.count});
  return senders.empty() ? words : words + ", from " + senders;
}

web::Regions map_rows(const RankMap& map, const std::string& path) {
  web::Regions rows;
  const std::size_t columns = columns_of_map(map.cells.size());
  for (std::size_t begin = 0; begin < map.cells.size(); begin += columns)
    rows.emplace_back(fmt::format("row-{}", rows.size()),
                      row_markup(map, begin, std::min(begin + columns, map.cells.size()), path));
  return rows;
}

std::string map_section(const RankMap& map, const std::string& path, const std::string& content) {
  if (map.cells.empty()) return "<p>The content's shape is not known yet.</p>";
  const auto rows = map_rows(map, path);
  std::string svg = fmt::format(
      "<svg class=\"map map{}\" id=\"cells\" viewBox=\"-{} -1 {} {}\" role=\"group\" "
      "aria-label=\"Rank map: {} cells, {} a generation each\">",
      columns_of_map(map.cells.size()), kMargin,
      static_cast<int>(columns_of_map(map.cells.size())) * kStep + kMargin,
      static_cast<int>(rows.size()) * kRowStep + 1, map.cells.size(),
      map.per_cell == 1 ? std::string("of one") : fmt::format("of {}", map.per_cell));
  for (std::size_t row = 0; row < rows.size(); ++row)
    svg += fmt::format("<g id=\"{}\" transform=\"translate(0 {})\">{}</g>", rows[row].first,
                       row * kRowStep, rows[row].second);
  svg += fmt::format("<rect id=\"cursor\" width=\"{}\" height=\"{}\" visibility=\"hidden\"/></svg>",
                     kWidth, kHeight);
  std::string note =
      "<p class=\"note\">A <dfn>generation</dfn> is a run of blocks that are decoded together. Its "
      "<dfn>rank</dfn> is how many blocks of it are here that no others can make up for; at full "
      "rank "
      "it is decoded and checked. ";
  note += map.per_cell == 1
              ? "Each <dfn>cell</dfn> is a generation; its colour is its rank.</p>"
              : fmt::format(
                    "Each cell stands for {} generations; the number beside a row zooms to "
                    "it.</p>",
                    map.per_cell);
  return ways(map, path) + note + web::scrolled("Rank map", svg) + probe(map, content) + legend();
}

std::string map_table(const RankMap& map, const core::SwarmView& view) {
  std::string table =
      "<table><thead><tr><th scope=\"col\">Generations</th><th scope=\"col\">State</th>"
      "<th scope=\"col\" class=\"n\">Rank</th><th scope=\"col\" class=\"n\">of</th>"
      "<th scope=\"col\">From (rows)</th></tr></thead><tbody>";
  std::size_t runs = 0;
  for (std::size_t i = 0; i < map.cells.size();) {
    MapCell run = map.cells[i];
    std::size_t next = i + 1;
    for (; settled(run) && next < map.cells.size() && map.cells[next].state == run.state; ++next) {
      run.count += map.cells[next].count;
      run.rank += map.cells[next].rank;
      run.blocks += map.cells[next].blocks;
    }
    i = next;
    if (++runs > kRunsMax)
      return web::scrolled("Generations", table + "</tbody></table>") +
             "<p>And more: show fewer generations to see them.</p>";
    fmt::format_to(std::back_inserter(table),
                   "<tr><td>{}{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
                   "<td class=\"from\">{}</td></tr>",
                   run.first,
                   run.count == 1 ? "" : fmt::format(" to {}", run.first + run.count - 1),
                   name_of(run.state), run.rank, run.blocks,
                   settled(run) ? "" : html(senders_in(view, {run.first, run.count})));
  }
  return web::scrolled("Generations", table + "</tbody></table>");
}

}  // namespace firn::app
