#include "proto/web/line_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "proto/web/markup.h"

namespace firn::web {
namespace {

constexpr double kWidth = 600, kHeight = 96, kTop = 14;

std::string polyline(const LineChart& chart, const ChartLine& line, double top) {
  std::string points;
  const std::size_t missing = chart.values_max - line.values.size();
  for (std::size_t i = 0; i < line.values.size(); ++i) {
    const double x =
        kWidth * static_cast<double>(missing + i) / static_cast<double>(chart.values_max - 1);
    const double y = kTop + (kHeight - kTop) * (1 - line.values[i] / top);
    fmt::format_to(std::back_inserter(points), "{:.0f},{:.1f} ", x, y);
  }
  return fmt::format("<polyline class=\"{}\" points=\"{}\"/>", line.style, points);
}

double latest(const ChartLine& line) {
  return line.values.empty() ? 0 : line.values.back();
}

std::string table(const LineChart& chart) {
  constexpr std::size_t kRows = 30;
  const std::size_t each = std::max<std::size_t>(1, chart.values_max / kRows);
  const std::size_t count = chart.lines[0].values.size();
  std::string head = "<th scope=\"col\" class=\"n\">Ago</th>", rows;
  for (const ChartLine& line : chart.lines)
    head += "<th scope=\"col\" class=\"n\">" + line.name + "</th>";
  for (std::size_t ago = 0; ago < count; ago += each) {
    rows += "<tr><td class=\"n\">" +
            chart.seconds(static_cast<double>(ago) * chart.seconds_between) + "</td>";
    for (const ChartLine& line : chart.lines)
      rows += "<td class=\"n\">" + chart.worded(line.values[count - 1 - ago]) + "</td>";
    rows += "</tr>";
  }
  return "<table><thead><tr>" + head + "</tr></thead><tbody>" + rows + "</tbody></table>";
}

std::string rule(double y) {
  return fmt::format("<line class=\"axis\" x1=\"0\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>", kWidth, y, y);
}

}  // namespace

std::string line_chart(const LineChart& chart) {
  double top = chart.top;
  std::string caption, drawn, label = html(chart.label) + ":";
  for (const ChartLine& line : chart.lines)
    for (const double value : line.values) top = std::max(top, value);
  for (const ChartLine& line : chart.lines) {
    const std::string words = line.name + " " + chart.worded(latest(line));
    caption += fmt::format("<span class=\"{}\">{}</span> ", line.style, words);
    label += " " + words;
    drawn += polyline(chart, line, top);
  }
  return fmt::format(
      "<figure class=\"rates\"><figcaption>{}<span>over {}</span></figcaption>"
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}{}"
      "<text x=\"2\" y=\"10\">{}</text>{}</svg><details id=\"rates-table\"><summary>Rates as a "
      "table</summary>{}</details></figure>",
      caption, chart.seconds(static_cast<double>(chart.values_max) * chart.seconds_between), kWidth,
      kHeight, label, rule(kTop), rule(kHeight - 0.5), chart.worded(top), drawn, table(chart));
}

}  // namespace firn::web
